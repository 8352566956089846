/** Renders the hosted pages: templates that escape by default, one style sheet, localized texts. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { Eta } from 'eta'

import type { CaptchaWidget } from './captcha.ts'
import { getTexts, type Say, type TextName } from './texts.ts'

export type PageName =
  | 'sign-in'
  | 'code'
  | 'create'
  | 'recover'
  | 'password'
  | 'factor'
  | 'consent'
  | 'device'
  | 'message'
  | 'form-post'
  | 'sign-out'

export interface PageData {
  title: string
  /** The key of a text. */
  error?: string | undefined
  /** The key of a text: why the browser is back at the page. */
  reason?: string | undefined
  /** A URL that the browser is forwarded to. */
  refresh?: string | undefined
  captcha?: (CaptchaWidget & { siteKey: string }) | undefined
  [name: string]: unknown
}

/** The tag and direction of a language. */
interface PageLanguage {
  tag: string
  direction: string
}

/** A set of pages with one style sheet and one set of texts. */
export interface PageSet<Name extends string, Text extends string> {
  /** `hosts`: of the page's captcha. */
  headers: (hosts: string | undefined, name: Name) => Record<string, string>
  /** Renders a page in its reader's language. `data` may use that language's texts. */
  render: (name: Name, language: PageLanguage, data: (say: Say<Text>) => PageData) => string
}

const folder = import.meta.dirname
const eta = new Eta({ views: join(folder, 'templates'), cache: true, autoEscape: true })
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
const script = read('webauthn.js')
/** Of the page whose form goes to a client. Without scripts, the user presses its button. */
const submitScript = 'document.forms[0].submit()'

const toHashSource = (text: string) =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/**
 * Forms post to this server only, except the one that has nothing of the user and goes to a client. A redirect to a
 * client is a page that navigates, which `form-action` does not restrict.
 */
const policyWith = (style: string, hosts: string, isFormPost: boolean) =>
  [
    "default-src 'none'",
    `style-src ${toHashSource(style)} ${hosts}`.trim(),
    `script-src ${toHashSource(isFormPost ? submitScript : script)} ${hosts}`.trim(),
    `connect-src 'self' ${hosts}`.trim(),
    ...(hosts ? [`frame-src ${hosts}`] : []),
    ...(isFormPost ? [] : ["form-action 'self'"]),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

const withScript = ['sign-in', 'factor', 'account/passkeys', 'account/key']

/** Values that templates read and most pages lack. */
const absent = {
  error: undefined,
  reason: undefined,
  refresh: undefined,
  link: undefined,
  captcha: undefined,
  submits: false,
}

/** `sheet`: the style sheet of these pages besides the shared ones. */
export function definePages<Name extends string, Text extends string>(
  textsIn: (tag: string) => Say<Text>,
  sheet?: string,
): PageSet<Name, Text> {
  // Colours and shared styles of the console first, then those of the pages.
  const sheets = ['tokens.css', 'style.css', ...(sheet ? [sheet] : [])]
  const style = sheets.map(read).join('')
  return {
    headers: (hosts = '', name) => ({
      'content-security-policy': policyWith(style, hosts, name === 'form-post'),
      'x-frame-options': 'DENY',
      // The client's check of the Origin header gets this server's.
      'referrer-policy': name === 'form-post' ? 'origin' : 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      vary: 'Origin, Accept-Language, Cookie',
    }),
    render(name, { tag, direction }, data) {
      const say = textsIn(tag)
      const scripts = { script, submitScript, hasScript: withScript.includes(name) }
      const common = { say, tag, direction, style, ...scripts }
      return eta.render(`./${name}`, { ...absent, ...data(say), ...common })
    },
  }
}

/** The pages of sign-in, consent, devices and sign-out. */
export const hostedPages = definePages<PageName, TextName>(getTexts)
