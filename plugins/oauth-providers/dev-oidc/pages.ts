/** What the development provider shows: the question who somebody is, in the looks of the other development pages. */
import { devPage, escaped } from '../../pages/markup.ts'

export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  // Without form-action: browsers hold a form's redirects against it, and these lead to the site.
  'content-security-policy':
    "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'same-origin',
}

/** Its form is sent to the address that it came from. */
export function loginPage(): string {
  return page(
    'Who are you today?',
    `<p>This provider is part of the development server. Any name signs in, and any address; nobody is asked for a password.</p>
<form method="post">
<label>Name or address <input name="name" autocomplete="off" maxlength="200" value="Ann" required autofocus></label>
<div class="buttons"><button class="primary" name="answer" value="yes">Sign in</button>
<button name="answer" value="no" formnovalidate>Cancel</button></div>
</form>`,
  )
}

/** For a question that is over, or whose browser is another one. */
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
