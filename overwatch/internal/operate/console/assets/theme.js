// The theme is set before anything is drawn. It is the system's until somebody chooses one.
document.documentElement.dataset.theme = localStorage.getItem('gslb-theme') ||
  (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
