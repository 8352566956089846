/** The URL is the state of a page: every list, filter and tab has one, and the back button works. */
import { computed, signal } from '@preact/signals'

import { base, pageUrl } from './base.ts'

const root = `${base}/console`

const address = signal(readAddress())

/** The path below /console, with a leading slash. */
export const path = computed(() => address.value.path)
export const query = computed(() => address.value.query)

/** Opens another page. */
export function navigate(to: string, { replace = false } = {}): void {
  const url = pageUrl(to)
  if (replace) history.replaceState(null, '', url)
  else history.pushState(null, '', url)
  const before = path.value
  reloadRoute()
  if (path.value !== before) showTop()
}

let isFirstPage = true

/** False until another page than the one that was loaded is opened. */
export const hasNavigated = (): boolean => !isFirstPage

/** Counts visits to the current page by link, which reload it. */
export const visits = signal(0)

/** Changes query parameters; those without a value are removed. */
export function setQuery(
  changes: Record<string, string | undefined>,
  { replace = true } = {},
): void {
  const next = new URLSearchParams(query.value)
  for (const [name, value] of Object.entries(changes)) {
    if (value) next.set(name, value)
    else next.delete(name)
  }
  const text = next.toString()
  navigate(path.value + (text && `?${text}`), { replace })
}

/** Handles links between console pages without a reload. */
export function startRouter(): void {
  addEventListener('popstate', reloadRoute)
  addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null
    if (!link || !isPlainClick(event) || link.target || link.hasAttribute('download')) return
    const url = new URL(link.href, location.href)
    // A fragment is a place on the same page.
    if (url.origin !== location.origin || !isOfConsole(url.pathname) || url.hash) return
    event.preventDefault()
    if (url.href === location.href) visits.value += 1
    else navigate((url.pathname.slice(root.length) || '/') + url.search)
  })
}

/** The values of `:name` segments if the pattern matches the path. */
export function matchPath(pattern: string, of: string): Record<string, string> | undefined {
  const [expected, given] = [pattern.split('/'), of.split('/')]
  if (expected.length !== given.length) return undefined
  const values: Record<string, string> = {}
  for (const [index, part] of expected.entries()) {
    const value = given[index] ?? ''
    if (part.startsWith(':')) values[part.slice(1)] = decodeURIComponent(value)
    else if (part !== value) return undefined
  }
  return values
}

function reloadRoute(): void {
  const next = readAddress()
  if (next.path !== address.value.path) isFirstPage = false
  address.value = next
}

function readAddress() {
  const { pathname, search } = location
  const path = pathname.slice(root.length).replace(/\/$/, '') || '/'
  return { path, query: new URLSearchParams(search) }
}

function isOfConsole(pathname: string): boolean {
  return pathname === root || pathname.startsWith(`${root}/`)
}

function isPlainClick(event: MouseEvent): boolean {
  const { button, metaKey, ctrlKey, shiftKey, altKey, defaultPrevented } = event
  return button === 0 && !(metaKey || ctrlKey || shiftKey || altKey || defaultPrevented)
}

function showTop(): void {
  scrollTo(0, 0)
}
