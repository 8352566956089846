/** Email flows of users and apps: request, wait, open the link. */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'

import type { App, Built } from '../server.ts'
import { linkIn } from './mail-links.ts'
import type { ReceivedMail } from './mail-server.ts'

/** A PKCE pair (RFC 7636) as the SDK creates it. */
export function pkcePair() {
  const verifier = randomBytes(32).toString('base64url')
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  return { verifier, fields: { code_challenge: challenge, code_challenge_method: 's256' } }
}

/** The next email to this address after the first `since` emails. */
export function nextEmail({ mail }: Pick<Built, 'mail'>, to: string, since = 0) {
  return mail.waitFor((message) => message.to === to && mail.messages.indexOf(message) >= since)
}

/** Does something and waits for the mail it causes. */
export async function emailAfter(
  server: Pick<Built, 'mail'>,
  to: string,
  act: () => PromiseLike<{ statusCode: number; body: string }>,
): Promise<ReceivedMail> {
  const since = server.mail.messages.length
  const response = await act()
  assert.equal(response.statusCode, 200, response.body)
  return nextEmail(server, to, since)
}

/** Path and query of the link, as it reaches this server. */
export function emailedPath(link: string): string {
  const { pathname, search } = new URL(link)
  return pathname + search
}

export const open = (app: App, message: ReceivedMail) => app.inject(emailedPath(linkIn(message)))

export function emailedToken(message: ReceivedMail): string {
  return new URL(linkIn(message)).searchParams.get('token') ?? ''
}

/** The redirect of an opened link, parsed. */
export function redirectParams(response: {
  statusCode: number
  headers: Record<string, unknown>
  body: string
}) {
  assert.equal(response.statusCode, 303, response.body)
  const url = new URL(String(response.headers.location))
  const fragment = Object.fromEntries(new URLSearchParams(url.hash.slice(1)))
  const query = Object.fromEntries(url.searchParams)
  return { site: url.origin + url.pathname, fragment, query }
}

/** Waits until no mail waits and the queue has nothing left to do: for showing that something was not sent. */
export async function waitForIdleQueue({
  app,
  config,
}: Pick<Built, 'app' | 'config'>): Promise<void> {
  const { AUTH_DB_NAMESPACE: schema } = config
  const left = `select ((select count(*) from ${schema}_jobs._private_jobs
      join ${schema}_jobs._private_tasks t on t.id = task_id
      where t.identifier in ('answer_mail_request', 'repeat_text_message', 'send_mail'))
    + (select count(*) from ${schema}.postern_mail_messages where state in ('queued', 'sending'))
    )::int as left`
  for (;;) {
    const { rows } = await app.pool.query<{ left: number }>(left)
    if (rows[0]?.left === 0) return
    await new Promise((resolve) => setTimeout(resolve, 15))
  }
}
