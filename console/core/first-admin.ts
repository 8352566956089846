/** The one-time link from the log or `npm run admin` that adds an admin. */
import { signal } from '@preact/signals'

import { RequestError } from './api.ts'
import { base } from './base.ts'
import { type ConsoleRole, pageSession, start } from './credentials.ts'

const name = '#first-admin='

/** The token of the link, removed from the address immediately. */
export const linkToken = signal(readToken())

/** Throws ApiError for a used or expired link. */
export const checkLink = (token: string): Promise<{ email: string | null; role: ConsoleRole }> =>
  post('/check', { token })

/** Without a password, the signed-in user becomes the admin. Throws ApiError. */
export async function followLink(body: {
  token: string
  email?: string
  password?: string
}): Promise<void> {
  await post('', body)
  linkToken.value = undefined
  await start()
}

function readToken(): string | undefined {
  if (!location.hash.startsWith(name)) return undefined
  const token = location.hash.slice(name.length)
  history.replaceState(null, '', location.pathname + location.search)
  return token
}

async function post<T>(path: string, body: object): Promise<T> {
  const headers = {
    'content-type': 'application/json',
    'x-form-token': pageSession.value?.form_token ?? '',
  }
  const init = { method: 'POST', headers, body: JSON.stringify(body) }
  const response = await fetch(`${base}/console/first_admin${path}`, init)
  const answer = await response.json()
  if (response.ok) return answer
  const { error_code: code = '', msg: message = 'The server rejected this.' } = answer
  throw new RequestError(response.status, { code, message })
}
