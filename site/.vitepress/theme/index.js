import DefaultTheme from 'vitepress/theme'
import { h } from 'vue'
import Recording from './Recording.vue'

// The start page shows the recording of a failover above its text.
export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'home-hero-after': () => h(Recording) }),
}
