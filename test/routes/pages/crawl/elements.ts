/** What a user may press on a page in a browser without scripts. */
import type { PageResponse } from '../../../support/page-browser.ts'

interface Link {
  kind: 'link'
  key: string
  url: string
}

export interface Input {
  name: string
  value: string
  isRequired: boolean
}

export interface Button {
  kind: 'button'
  key: string
  /** The address that the form is sent to. */
  target: string
  hidden: Readonly<Record<string, string>>
  inputs: readonly Input[]
  /** Of the button itself. */
  name: string
  value: string
  /** The browser accepts only a complete form. */
  isValidated: boolean
}

export type Pressable = Link | Button

/** Of several with the same key, such as those of the rows of a list, the first. */
export function listPressables(page: PageResponse, isOurs: (url: string) => boolean): Pressable[] {
  const all = [...listLinks(page).filter(({ url }) => isOurs(url)), ...listButtons(page)]
  return [...new Map(all.toReversed().map((one) => [one.key, one])).values()].toReversed()
}

function listLinks({ html }: PageResponse): Link[] {
  return [...html.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, href = '']) => {
    const url = unescaped(href)
    return { kind: 'link', key: `link ${withoutValues(url)}`, url }
  })
}

/** A hidden form waits for a script. */
function listButtons({ html, path }: PageResponse): Button[] {
  const forms = [...html.matchAll(/<form([^>]*)>([\s\S]*?)<\/form>/g)]
  return forms.flatMap(([, head = '', body = '']) => {
    if (/ hidden\b/.test(head)) return []
    const action = unescaped(/action="([^"]*)"/.exec(head)?.[1] ?? '')
    const target = action === '?' ? (path.split('?')[0] ?? '') : action
    const fields = [...body.matchAll(/<(?:input|select)\b([^>]*)>/g)].map(([, tag = '']) => tag)
    const hidden = fields.filter((tag) => /type="hidden"/.test(tag)).map(readInput)
    const inputs = fields.filter((tag) => !/type="hidden"/.test(tag)).map(readInput)
    return [...body.matchAll(/<button\b([^>]*)>/g)].map(([, tag = '']): Button => {
      const [name, value] = [readAttribute(tag, 'name'), readAttribute(tag, 'value')]
      return {
        kind: 'button',
        key: `button ${withoutValues(target)} ${value || hiddenIn(hidden, 'action')} ${hiddenIn(hidden, 'which')}`,
        target,
        hidden: Object.fromEntries(hidden.map((input) => [input.name, input.value])),
        inputs,
        name,
        value,
        isValidated: !tag.includes('formnovalidate'),
      }
    })
  })
}

const hiddenIn = (hidden: readonly Input[], wanted: string) =>
  hidden.find(({ name }) => name === wanted)?.value ?? ''

const readInput = (tag: string): Input => ({
  name: readAttribute(tag, 'name'),
  value: readAttribute(tag, 'value'),
  isRequired: / required\b/.test(tag),
})

function readAttribute(tag: string, name: string): string {
  return unescaped(new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? '')
}

/**
 * The path, and the page that it continues at: without the values that differ each time. All pages of the account are
 * returned to alike.
 */
export function withoutValues(url: string): string {
  const { pathname, searchParams } = new URL(url, 'http://auth.example')
  const next = searchParams.get('next')?.replace(/^\/account\/.*/, '/account')
  return [pathname, next && `> ${withoutValues(next)}`].filter(Boolean).join(' ')
}

const unescaped = (text: string) =>
  text
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
