/** The page between a link and its effect: one button, no script, nothing loaded. */
import { createHash } from 'node:crypto'

interface Wording {
  heading: string
  button: string
}

const defaultWording = { heading: 'Sign in', button: 'Sign in' }
const wordings = new Map<string, Wording>([
  ['signup', { heading: 'Confirm your email address', button: 'Confirm' }],
  ['invite', { heading: 'Accept your invitation', button: 'Accept' }],
  ['recovery', { heading: 'Reset your password', button: 'Continue' }],
  ['email_change', { heading: 'Confirm your new email address', button: 'Confirm' }],
])

const style = `
:root { color-scheme: light dark }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: #f3f4f6; color: #14171c;
  font: 16px/1.5 system-ui, sans-serif }
main { box-sizing: border-box; width: min(100% - 32px, 400px); padding: 32px; border-radius: 12px;
  background: #fff; border: 1px solid #e2e5ea; text-align: center }
h1 { margin: 0 0 24px; font-size: 22px; line-height: 30px; font-weight: 600 }
button { width: 100%; padding: 13px 24px; border: 0; border-radius: 8px; background: #14171c; color: #fff;
  font: inherit; font-weight: 600; cursor: pointer }
button:focus-visible { outline: 3px solid #1d4ed8; outline-offset: 2px }
@media (prefers-color-scheme: dark) {
  body { background: #0f1115; color: #f4f5f7 }
  main { background: #181b21; border-color: #2c313a }
  button { background: #f4f5f7; color: #14171c }
}
`

/** Without form-action: browsers hold a form's redirects against it, and these lead to the site. */
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

export const confirmationPageHeaders = {
  'content-security-policy': policy,
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
}

/** HTML whose button sends the fields back to the address the page came from. */
export function confirmationPage(type: string, fields: Record<string, string>): string {
  const { heading, button } = wordings.get(type) ?? defaultWording
  const inputs = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`,
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${heading}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${heading}</h1>
<form method="post" action="?">
${inputs.join('\n')}
<button type="submit" autofocus>${button}</button>
</form>
</main>
</body>
</html>
`
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
