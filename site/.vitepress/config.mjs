// The documentation site: the Markdown of the repository, with search, versions and dark mode. `make docs` builds it.
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import GithubSlugger from 'github-slugger'
import { defineConfig } from 'vitepress'

const top = path.resolve(import.meta.dirname, '../..')
const version = readFileSync(path.join(top, 'VERSION'), 'utf8').trim()
const releases = git('tag', '--list', 'v*', '--sort=-v:refname').split('\n').filter(Boolean).map(tag => tag.slice(1))
// The public repository, for links to files that are not pages. Without it the site has a copy of these files.
const repository = process.env.DOCS_REPOSITORY?.replace(/\/$/, '')
const base = process.env.DOCS_BASE ?? '/'
const root = process.env.DOCS_ROOT ?? '/'

function git(...args) {
  try { return execFileSync('git', ['-C', top, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }) }
  catch { return '' } // an archive of the sources
}

// rewritten returns the path of a page of the site for a Markdown file of the repository.
function rewritten(file) {
  if (file === 'README.md') return 'start.md'
  return file.replace(/^(site|\.github)\//, '').replace(/README\.md$/, 'index.md')
}

// linked maps the files of the site that are no pages to files of the repository.
const linked = new Map()

// siteLink returns the link in the site for a relative link of a page.
function siteLink(page, href) {
  const [name, anchor] = href.split('#')
  const file = path.resolve(path.dirname(page), name)
  const inside = path.relative(top, file)
  if (file.endsWith('.md')) return '/' + rewritten(inside) + (anchor ? '#' + anchor : '')
  if (repository) return `${repository}/blob/${git('rev-parse', 'HEAD').trim()}/${inside}`
  const copy = '/files/' + inside + (path.extname(inside) ? '' : '.txt')
  linked.set(copy, file)
  return copy
}

const pages = (text, prefix, names) => ({ text, items: names.map(([text, link]) => ({ text, link: prefix + link })) })

export default defineConfig({
  title: 'gslb',
  description: 'Open global server load balancer: authoritative DNS with health checks, agents and DNSSEC',
  base,
  srcDir: top,
  srcExclude: ['**/node_modules/**', '**/testdata/**', '.tools/**', 'dist/**', '.github/PULL_REQUEST_TEMPLATE.md'],
  outDir: './.vitepress/dist',
  cleanUrls: false,
  rewrites: rewritten,
  lastUpdated: true,
  markdown: {
    anchor: { slugify: text => new GithubSlugger().slug(text) },
    config(md) {
      const open = md.renderer.rules.link_open
      md.renderer.rules.link_open = (tokens, i, options, env, self) => {
        const href = tokens[i].attrGet('href')
        if (!/^([a-z]+:|#|\/)/.test(href)) tokens[i].attrSet('href', siteLink(env.realPath ?? env.path, href))
        return open(tokens, i, options, env, self)
      }
      md.renderer.rules.code_block = (tokens, i, options, env, self) => { // indented code: commands
        tokens[i].info = 'sh'
        return md.renderer.rules.fence(tokens, i, options, env, self)
      }
    },
  },
  buildEnd({ outDir }) {
    for (const [name, file] of linked) {
      mkdirSync(path.dirname(path.join(outDir, name)), { recursive: true })
      copyFileSync(file, path.join(outDir, name))
    }
  },
  vite: {
    // Pages outside this directory find its packages.
    resolve: { alias: [{ find: /^vue(?=\/|$)/, replacement: path.join(top, 'site/node_modules/vue') }] },
    server: { fs: { allow: [top] } },
    build: { chunkSizeWarningLimit: 2000 },
  },
  // Links to files that are not pages. check.mjs checks all other links and the anchors.
  ignoreDeadLinks: [link => !/\.(md|html)$|\/$/.test(link)],
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Start', link: '/start' },
      { text: 'Tasks', link: '/overwatch/docs/tasks' },
      { text: 'Reference', link: '/overwatch/docs/configuration' },
      { text: 'Comparison', link: '/comparison' },
      {
        text: version,
        items: [...new Set([version, ...releases])].map(name => ({
          text: name === version ? `${name} (this version)` : name,
          link: name === version ? '/' : `${root}${name}/`, target: '_self',
        })).concat({ text: 'Changelog', link: '/overwatch/CHANGELOG' },
          { text: 'Compatibility', link: '/overwatch/docs/compatibility' }),
      },
    ],
    sidebar: [
      pages('Introduction', '/', [['First answer', 'start'], ['Concepts', 'overwatch/docs/concepts'],
        ['Comparison', 'comparison'], ['Overwatch node', 'overwatch/'], ['Agent', 'agent/'], ['gslbctl', 'gslbctl/'],
        ['Console', 'overwatch/docs/console'], ['Packages', 'packaging/'], ['Kubernetes', 'packaging/kubernetes/'],
        ['Docker Compose', 'packaging/compose/']]),
      pages('Answers', '/overwatch/docs/', [['Routing policies', 'routing'], ['Routing decisions', 'why'],
        ['DNS', 'dns'], ['DNSSEC', 'dnssec']]),
      pages('Operation', '/overwatch/docs/', [['Tasks', 'tasks'], ['Runbooks', 'runbooks'],
        ['Rotation of secrets', 'rotation'], ['Tokens', 'tokens'],
        ['Backup and restore', 'backup'], ['Restarts', 'restart'], ['Replication', 'replication'], ['Events', 'events'],
        ['dnstap', 'dnstap'],
        ['Notifications', 'notifications'], ['Capacity', 'capacity'], ['Scale', 'scale']]),
      pages('Reference', '/', [['Configuration of a node', 'overwatch/docs/configuration'],
        ['Configuration of an agent', 'agent/docs/configuration'], ['Commands of gslbctl', 'gslbctl/docs/commands'],
        ['HTTP API', 'overwatch/docs/api'], ['Metrics', 'overwatch/docs/metrics'],
        ['Wire protocol', 'shared/wire/PROTOCOL'],
        ['Compatibility', 'overwatch/docs/compatibility']]),
      pages('Project', '/', [['Architecture', 'ARCHITECTURE'], ['Contributing', 'CONTRIBUTING'],
        ['Security', 'SECURITY'], ['Tests', 'integration/'], ['Faults', 'integration/faults'], ['Test coverage', 'integration/coverage'],
        ['Benchmarks', 'integration/bench/']]),
      pages('Changelogs', '/', [['gslb-overwatch', 'overwatch/CHANGELOG'], ['gslb-agent', 'agent/CHANGELOG'],
        ['gslbctl', 'gslbctl/CHANGELOG'], ['gslb', 'packaging/launcher/CHANGELOG']]),
    ],
    ...(repository && { socialLinks: [{ icon: 'github', link: repository }],
      editLink: { pattern: `${repository}/edit/main/:path` } }),
  },
})
