// The theme is set before the first rendering. It is the system's theme until the user selects a theme.
document.documentElement.dataset.theme = localStorage.getItem('gslb-theme') ||
  (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
