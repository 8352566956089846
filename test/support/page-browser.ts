/** A browser without scripts for the hosted pages: cookies, links and forms. */
import assert from 'node:assert/strict'

import { callbackUrl } from './oauth-server.ts'
import type { App } from './server.ts'
import { password } from './users.ts'

export interface PageResponse {
  /** The address of the page, without the host. */
  path: string
  status: number
  html: string
  location: string | undefined
  headers: Record<string, unknown>
}

interface BrowserOptions {
  /** Every button is clicked twice; the second answer must equal the first, and is the one that is shown. */
  doubleClicks?: boolean
}

export function openBrowser(
  app: App,
  headers: Record<string, string> = {},
  { doubleClicks = false }: BrowserOptions = {},
) {
  const jar = new Map<string, string>()
  const cookies = () => [...jar].map((pair) => pair.join('=')).join('; ')

  async function send(method: 'GET' | 'POST', url: string, form?: Record<string, string>) {
    const response = await app.inject({
      method,
      url: toPath(app, url),
      headers: {
        accept: 'text/html',
        ...(jar.size > 0 && { cookie: cookies() }),
        ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
        ...headers,
      },
      ...(form && { payload: new URLSearchParams(form).toString() }),
    })
    for (const set of [response.headers['set-cookie'] ?? []].flat()) take(set)
    const page: PageResponse = {
      path: toPath(app, url),
      status: response.statusCode,
      html: response.body,
      location: response.headers.location?.toString(),
      headers: response.headers,
    }
    return page
  }

  /** Both requests have the cookies of the page; a third one has those of the answer. */
  async function sendTwice(url: string, form: Record<string, string>): Promise<PageResponse> {
    const answers = await Promise.all([send('POST', url, form), send('POST', url, form)])
    const last = await send('POST', url, form)
    for (const again of [answers[1], last]) assert.deepEqual(toShown(again), toShown(answers[0]))
    return last
  }

  function take(set: string | undefined): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set ?? '') ?? []
    if (value === '') jar.delete(name)
    else jar.set(name, value)
  }

  /** Follows redirects and pages that navigate, as long as they stay on this server. */
  async function follow(page: PageResponse): Promise<PageResponse> {
    const next = page.location ?? refreshIn(page.html)
    if (next === undefined || !isOurs(app, next)) return page
    return follow(await send('GET', next))
  }

  return {
    get cookie() {
      return cookies()
    },
    /** Stores the cookie of a Set-Cookie header. */
    take,
    send,
    follow,
    open: async (url: string) => follow(await send('GET', url)),
    /** Submits a form of the page, the one with a button of this value if given. */
    submit: async (page: PageResponse, fields: Record<string, string>) => {
      const { action, hidden } = formIn(page.html, fields.action)
      const form = { ...hidden, ...fields }
      return follow(doubleClicks ? await sendTwice(action, form) : await send('POST', action, form))
    },
  }
}

const toShown = ({ status, location, html }: PageResponse) => ({ status, location, html })

/** Where the page navigates to by itself. */
export function refreshIn(html: string): string | undefined {
  const url = /http-equiv="refresh" content="0;url=([^"]*)"/.exec(html)?.[1]
  return url?.replaceAll('&amp;', '&')
}

export function titleIn({ html }: PageResponse): string {
  return /<h1>([^<]*)<\/h1>/.exec(html)?.[1] ?? ''
}

export function errorIn({ html }: PageResponse): string | undefined {
  return /role="alert">([^<]*)</.exec(html)?.[1]
}

/** Why the browser is back at the page. */
export function reasonIn({ html }: PageResponse): string | undefined {
  return /class="note" role="status">([^<]*)</.exec(html)?.[1]
}

/** The address of the first link of the page that matches. */
export function linkAt({ html }: PageResponse, pattern: RegExp): string {
  const links = [...html.matchAll(/<a [^>]*href="([^"]*)"/g)]
  const urls = links.map(([, url = '']) => url.replaceAll('&amp;', '&'))
  return urls.find((url) => pattern.test(url)) ?? assert.fail(`no link to ${pattern}: ${urls}`)
}

function formIn(html: string, button: string | undefined) {
  const forms = html.match(/<form[\s\S]*?<\/form>/g) ?? []
  const form = forms.find((each) => button === undefined || each.includes(`value="${button}"`))
  assert.ok(form, html)
  const inputs = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)]
  const hidden = inputs.map(([, name = '', value = '']) => [name, value.replaceAll('&amp;', '&')])
  const action = /action="([^"]*)"/.exec(form)?.[1] ?? ''
  return { action, hidden: Object.fromEntries(hidden) as Record<string, string> }
}

function toPath(app: App, url: string): string {
  return url.replace(app.config.AUTH_API_EXTERNAL_URL, '')
}

function isOurs(app: App, url: string): boolean {
  return url.startsWith('/') || url.startsWith(app.config.AUTH_API_EXTERNAL_URL)
}

type Parameters = Record<string, string>

/** A request of a client, as the path of the authorization endpoint. */
export function authorizeUrl(
  client: { client_id: string },
  challenge: string,
  more: Parameters = {},
) {
  const query = new URLSearchParams({
    client_id: client.client_id,
    redirect_uri: callbackUrl,
    response_type: 'code',
    scope: 'openid email',
    state: 's',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...more,
  })
  return `/oauth/authorize?${query}`
}

/** A browser whose user is signed in at the pages. */
export async function signedInBrowser(app: App, email: string) {
  const browser = openBrowser(app)
  const page = await browser.open('/sign-in')
  await browser.submit(page, { email, password, action: 'password' })
  return browser
}
