/** A browser session of the console that sends the requests its script sends. */
import { openBrowser } from './page-browser.ts'
import type { App } from './server.ts'
import { password } from './users.ts'

interface State {
  form_token: string
  user: { id: string; email: string | null } | null
  role: string | null
  required_factor: string | null
  has_admins: boolean
  sign_in_url: string
}

export function consoleBrowser(app: App) {
  const pages = openBrowser(app)
  const own = { origin: 'http://auth.example', 'sec-fetch-site': 'same-origin' }

  async function state(): Promise<State> {
    const { html } = await pages.send('GET', '/console/session')
    return JSON.parse(html)
  }

  async function send(
    method: 'POST' | 'DELETE',
    url: string,
    payload?: object,
    headers: Record<string, string> = {},
  ) {
    const { form_token } = await state()
    const sent = { ...own, cookie: pages.cookie, 'x-form-token': form_token, ...headers }
    const response = await app.inject({ method, url, headers: sent, ...(payload && { payload }) })
    const set = [response.headers['set-cookie'] ?? []].flat().at(-1)
    pages.take(set)
    return response
  }

  return {
    state,
    signIn: async (email: string) => {
      const page = await pages.open('/sign-in')
      return pages.submit(page, { email, password, action: 'password' })
    },
    exchange: (headers?: Record<string, string>) =>
      send('POST', '/console/session', undefined, headers),
    signOut: () => send('DELETE', '/console/session'),
    checkLink: (token: string) => send('POST', '/console/first_admin/check', { token }),
    redeem: (body: object) => send('POST', '/console/first_admin', body),
  }
}
