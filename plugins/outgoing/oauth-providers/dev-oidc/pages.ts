/** The pages of the development provider, in the layout of the other development pages. */
import { devPage, escaped } from '../../../http/pages/markup.ts'

export const devOidcPageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  // Without form-action: browsers apply it to redirects after a form as well, and these lead to the site.
  'content-security-policy':
    "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'same-origin',
}

/** The form posts to its own address. */
export function loginPage(): string {
  return page(
    'Who are you today?',
    `<p>This provider is part of the development server. Any name signs in, and any address; no one is asked for a password.</p>
<form method="post">
<label>Name or address <input name="name" autocomplete="off" maxlength="200" value="Ann" required autofocus></label>
<div class="buttons"><button class="primary" name="answer" value="yes">Sign in</button>
<button name="answer" value="no" formnovalidate>Cancel</button></div>
</form>`,
  )
}

/** For a login that has expired or belongs to another browser. */
export function errorPage(reason: string): string {
  return page(
    'That did not work',
    `<p>${escaped(reason)}. Go back to the site and try once more.</p>`,
  )
}

function page(heading: string, body: string): string {
  return devPage({
    title: heading,
    body: `<header class="bar"><span class="home">Provider “dev”</span></header>
<main class="page"><h1>${heading}</h1>
${body}
</main>`,
  })
}
