// The theme is set before anything is drawn. It is the system's theme until the user selects a theme.
document.documentElement.dataset.theme = localStorage.getItem('gslb-theme') ||
  (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
