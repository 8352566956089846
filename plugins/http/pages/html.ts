/**
 * The layout of all pages of the server. No script, except on the page that posts a form to another server, and no
 * external resources.
 */
import { createHash } from 'node:crypto'

import { escaped } from './markup.ts'

export interface PageText {
  heading: string
  text?: string
  button?: string
  link?: { url: string; text: string }
  /** In small print and in English, for support requests. */
  details?: readonly string[]
}

const style = `
:root { color-scheme: light dark }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: #f3f4f6; color: #14171c;
  font: 16px/1.5 system-ui, sans-serif }
main { box-sizing: border-box; width: min(100% - 32px, 400px); padding: 32px; border-radius: 12px;
  background: #fff; border: 1px solid #e2e5ea; text-align: center }
h1 { margin: 0 0 24px; font-size: 22px; line-height: 30px; font-weight: 600; text-wrap: balance }
h1:lang(ja) { word-break: auto-phrase }
p { margin: 0 0 24px }
button { width: 100%; padding: 13px 24px; border: 0; border-radius: 8px; background: #14171c; color: #fff;
  font: inherit; font-weight: 600; cursor: pointer }
button:focus-visible { outline: 3px solid #1d4ed8; outline-offset: 2px }
small { display: block; color: #5b6472; overflow-wrap: anywhere }
a { color: #1d4ed8 }
@media (prefers-color-scheme: dark) {
  body { background: #0f1115; color: #f4f5f7 }
  main { background: #181b21; border-color: #2c313a }
  button { background: #f4f5f7; color: #14171c }
  small { color: #a3abb8 }
  a { color: #9cc2ff }
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
export const postingPolicy = `${policy}; script-src ${toHashSource(submit)}`

export const pageHeaders = {
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
export function renderPageFrame(
  { heading, text, button, link, details = [] }: PageText,
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
${link ? `<p><a href="${escaped(link.url)}">${escaped(link.text)}</a></p>` : ''}
${details.map((detail) => `<small lang="en" dir="ltr">${escaped(detail)}</small>`).join('\n')}
</main>
${action ? `<script>${submit}</script>` : ''}
</body>
</html>
`
}
