// Checks the built site: each link leads to a page or file, each anchor to an element, and each image exists.
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'

const dist = path.resolve(import.meta.dirname, '.vitepress/dist')
const base = process.env.DOCS_BASE ?? '/'
const files = readdirSync(dist, { recursive: true }).filter(name => name.endsWith('.html'))
const texts = new Map(files.map(name => [name, readFileSync(path.join(dist, name), 'utf8')]))
const ids = new Map([...texts].map(([name, text]) => [name, new Set([...text.matchAll(/ id="([^"]+)"/g)].map(m => m[1]))]))
const plain = text => text.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#39;', "'")

let links = 0
const faults = new Set()
for (const [name, text] of texts) {
  for (const [, attribute, raw] of text.matchAll(/<(?:a|img|source)\s[^>]*?\b(href|src)="([^"]*)"/g)) {
    const url = new URL(plain(raw), 'http://site' + base + name)
    if (url.origin !== 'http://site' || !url.pathname.startsWith(base)) continue
    links++
    let target = decodeURIComponent(url.pathname.slice(base.length)) || 'index.html'
    if (target.endsWith('/')) target += 'index.html'
    const file = path.join(dist, target)
    if (!existsSync(file) || statSync(file).isDirectory()) {
      faults.add(`${name}: ${attribute} ${raw} leads nowhere`)
    } else if (url.hash && texts.has(target) && !ids.get(target).has(decodeURIComponent(url.hash.slice(1)))) {
      faults.add(`${name}: ${raw} has no anchor`)
    }
  }
}
for (const fault of faults) console.error(fault)
console.log(`${texts.size} pages, ${links} links, ${faults.size} faults`)
process.exit(faults.size > 0 || links === 0 ? 1 : 0)
