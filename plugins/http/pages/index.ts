/** The server's own simple pages: a heading, a sentence, a button, and no external resources. */
import { createHash } from 'node:crypto'

import type { FastifyReply } from 'fastify'

import type { Config } from '../../../config/groups/index.ts'
import { isRecord } from '../../../schemas/values/record.ts'
import { type Deps, definePlugin } from '../../define-plugin.ts'
import type { Languages } from '../../localization/languages/index.ts'
import { escaped } from './markup.ts'

// The layout of all pages of the server. No script, except on the page that posts a form to another server, and no
// external resources.

interface PageText {
  heading: string
  text?: string
  button?: string
  links?: readonly { url: string; text: string }[]
  /** In small print and in English, for support requests. */
  details?: readonly string[]
}

const style = `
:root { color-scheme: light dark }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: #f3f4f6; color: #14171c;
  font: 16px/1.5 system-ui, sans-serif }
main { box-sizing: border-box; width: min(100% - 32px, 400px); padding: 32px; border-radius: 12px;
  background: #fff; border: 1px solid #d5d9e0; overflow-wrap: anywhere }
@media (max-width: 400px) { main { padding: 24px 20px } }
h1 { margin: 0 0 20px; font-size: 22px; line-height: 30px; font-weight: 600; text-wrap: balance }
h1:lang(ja) { word-break: auto-phrase }
h1:has(+ p) { margin-bottom: 8px }
p { margin: 0 0 20px }
button, a { display: block; box-sizing: border-box; width: 100%; margin: 0 0 12px; padding: 12px 20px;
  border: 1px solid #14171c; border-radius: 8px; background: #14171c; color: #fff; font: inherit; font-weight: 600;
  text-align: center; text-decoration: none; cursor: pointer }
a + a, form + a { border-color: #555e6c; background: #fff; color: #14171c }
:is(button, a):focus-visible { outline: 3px solid #1d4ed8; outline-offset: 2px }
small { display: block; margin: 12px 0 0; color: #555e6c; font-size: 14px; line-height: 20px }
small + small { margin: 0 }
@media (prefers-color-scheme: dark) {
  body { background: #0f1115; color: #f4f5f7 }
  main { background: #181b21; border-color: #3a404b }
  button, a { border-color: #f4f5f7; background: #f4f5f7; color: #14171c }
  a + a, form + a { border-color: #a9b1be; background: #181b21; color: #f4f5f7 }
  :is(button, a):focus-visible { outline-color: #9cc2ff }
  small { color: #a9b1be }
}
`

const submit = 'document.forms[0].submit()'

const toHashSource = (text: string) =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** Without form-action: browsers apply it to redirects after a form as well, and these lead to the site. */
const policy = [
  "default-src 'none'",
  `style-src ${toHashSource(style)}`,
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** For a page that submits its form automatically. */
const postingPolicy = `${policy}; script-src ${toHashSource(submit)}`

const pageHeaders = {
  'content-security-policy': policy,
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
}

interface Form {
  fields: Record<string, string>
  /** The target of an automatic post; undefined when the button posts to the page's own address. */
  action: string | undefined
}

/** Renders the whole page. */
function renderPageFrame(
  { heading, text, button, links = [], details = [] }: PageText,
  { tag, direction }: { tag: string; direction: string },
  { fields, action }: Form,
): string {
  const inputs = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`,
  )
  const form = `<form method="post" action="${escaped(action ?? '?')}">
${inputs.join('\n')}
<button type="submit" autofocus>${escaped(button ?? '')}</button>
</form>`
  return `<!doctype html>
<html lang="${tag}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escaped(heading)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${escaped(heading)}</h1>
${text ? `<p>${escaped(text)}</p>` : ''}
${button ? form : ''}
${links.map(({ url, text }) => `<a href="${escaped(url)}">${escaped(text)}</a>`).join('\n')}
${details.map((detail) => `<small lang="en" dir="ltr">${escaped(detail)}</small>`).join('\n')}
</main>
${action ? `<script>${submit}</script>` : ''}
</body>
</html>
`
}

declare module 'fastify' {
  interface FastifyInstance {
    pages: ReturnType<typeof createPages>
  }
}

/** A page's name; its texts exist in every language. */
export type ServerPageName = keyof Texts

interface PageOptions extends Pick<PageText, 'links' | 'details'> {
  /** An Accept-Language header. */
  language: string | undefined
  /** Sent by its button, if it has one, to the page's own address or to `action`. */
  fields?: Record<string, string>
  /** Another server, to which the browser posts the fields automatically. */
  action?: string
  /** For a page without a button, which ends with a link to where the user goes on. */
  end?: { sent?: readonly unknown[]; errorCode?: string }
}

type Texts = ReturnType<Languages['messagesFor']>['texts']['pages']

function createPages({ config, languages }: Deps<'config' | 'languages'>) {
  // The same address returns JSON to programs.
  const headers = { ...pageHeaders, vary: 'Origin, Accept, Accept-Language' }
  return {
    headers,

    /** Responds with a page in the reader's language. */
    send(
      reply: FastifyReply,
      name: ServerPageName,
      { language, fields = {}, action, end, links = [], ...rest }: PageOptions,
    ): FastifyReply {
      const { tag, direction, texts } = languages.ofReader(language)
      const wayOn = end ? [getWayOn(config, end, texts.pages)] : []
      const html = renderPageFrame(
        { ...texts.pages[name], ...rest, links: [...links, ...wayOn] },
        { tag, direction },
        { fields, action },
      )
      const policy = action ? { 'content-security-policy': postingPolicy } : {}
      return reply
        .headers({ ...headers, ...policy })
        .type('text/html; charset=utf-8')
        .send(html)
    },
  }
}

/**
 * To the sign-in of the hosted pages that the request belongs to, to the account page, or to the site: the error page
 * knows no other.
 */
function getWayOn(
  config: Config,
  { sent = [], errorCode = '' }: NonNullable<PageOptions['end']>,
  texts: Texts,
) {
  const { AUTH_ACCOUNT_PAGE_ENABLED, AUTH_API_EXTERNAL_URL: base, AUTH_SITE_URL: site } = config
  const targets = sent.map((values) => isRecord(values) && values.redirect_to)
  const target = targets.find((one) => String(one).startsWith(`${base}/sign-in/callback?`))
  const text = texts.magiclink.button ?? ''
  if (typeof target === 'string') {
    const url = new URL(target)
    url.searchParams.set('error', 'server_error')
    url.searchParams.set('error_code', errorCode)
    return { url: url.href, text }
  }
  if (AUTH_ACCOUNT_PAGE_ENABLED) return { url: `${base}/account`, text }
  return { url: site, text: new URL(site).host || site }
}

export default definePlugin({
  name: 'pages',
  deps: ['config', 'languages'],
  create: createPages,
})
