/** A site that renders on its server, with the session in cookies. README.md says how to run it. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'

import { createServerClient, parseCookieHeader, serializeCookieHeader } from '@supabase/ssr'

const authUrl = process.env.AUTH_URL ?? 'http://127.0.0.1:8081'
const site = new URL(process.env.SITE_URL ?? 'http://localhost:3000')

/** Bytes. */
const maxFormBytes = 10_000

type Auth = ReturnType<typeof authFor>
type Form = Readonly<Record<string, string>>

/** The message of a page for the user. Without one, the user is redirected to the front page. */
type Action = (auth: Auth, form: Form) => Promise<string | undefined>

const actions: Record<string, Action> = {
  async '/sign-up'(auth, { email = '', password = '' }) {
    const emailRedirectTo = new URL('/auth/callback', site).href
    const { error } = await auth.signUp({ email, password, options: { emailRedirectTo } })
    return error?.message ?? `Open the link in the mail to ${email}, in this browser.`
  },

  async '/sign-in'(auth, { email = '', password = '' }) {
    return (await auth.signInWithPassword({ email, password })).error?.message
  },

  async '/sign-out'(auth) {
    return (await auth.signOut()).error?.message
  },
}

const server = createServer((request, response) => {
  handle(request, response).catch((error) => {
    console.error(error)
    if (!response.headersSent) response.writeHead(500)
    response.end()
  })
})
server.listen(Number(site.port || 80), () => console.log(`The site is at ${site.href}`))

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', site)
  const auth = authFor(request, response)
  const action = actions[url.pathname]
  if (request.method === 'POST' && action) {
    // Another site can submit a form without the user's intent (CSRF).
    if (request.headers.origin !== site.origin)
      return show(response, 403, 'The form was sent by another site.')
    // A missing length is NaN and is rejected like one that is too large.
    const isShort = Number(request.headers['content-length'] ?? Number.NaN) <= maxFormBytes
    if (!isShort) return show(response, 413, 'The form is too long.')
    const form = Object.fromEntries(new URLSearchParams(await text(request)))
    const message = await action(auth, form)
    return message ? show(response, 200, message) : goHome(response)
  }
  if (url.pathname === '/auth/callback') {
    const { error } = await auth.exchangeCodeForSession(url.searchParams.get('code') ?? '')
    return error ? show(response, 400, error.message) : goHome(response)
  }
  if (url.pathname !== '/') return show(response, 404, 'There is no such page.')
  // Verified by the server, because the cookie may be older than a sign-out or a ban.
  const { data } = await auth.getUser()
  return show(response, 200, '', data.user?.email)
}

/** For one request. Changes of the session are in the cookies of its response. */
function authFor(request: IncomingMessage, response: ServerResponse) {
  const cookieOptions = { httpOnly: true, secure: site.protocol === 'https:' }
  const client = createServerClient(authUrl, 'anon', {
    cookieOptions,
    cookies: {
      getAll: () =>
        parseCookieHeader(request.headers.cookie ?? '').map(({ name, value = '' }) => ({
          name,
          value,
        })),
      setAll(changes) {
        for (const { name, value, options } of changes) {
          response.appendHeader('set-cookie', serializeCookieHeader(name, value, options))
        }
      },
    },
  })
  return client.auth
}

function goHome(response: ServerResponse): void {
  response.writeHead(303, { location: '/' }).end()
}

function show(response: ServerResponse, status: number, message: string, email?: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; form-action 'self'; frame-ancestors 'none'",
    'cache-control': 'private, no-store',
  })
  response.end(`<!doctype html>
<html lang="en">
<meta name="viewport" content="width=device-width">
<title>A site with users</title>
<h1>A site with users</h1>
<p role="status">${inHtml(message)}</p>
${email === undefined ? forms() : `<p>You are ${inHtml(email)}.</p>${form('/sign-out', 'Sign out')}`}
</html>
`)
}

function forms(): string {
  const fields = `<p><label>Email <input name="email" type="email" autocomplete="email" required></label>
<p><label>Password <input name="password" type="password" autocomplete="current-password" required></label>`
  return form('/sign-in', 'Sign in', fields) + form('/sign-up', 'Sign up', fields)
}

function form(action: string, label: string, fields = ''): string {
  return `<form method="post" action="${action}">${fields}<p><button>${label}</button></form>`
}

function inHtml(value: string): string {
  return value.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
