/** A listening server with all features that clients have methods for, and user actions outside the client. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'

import { describe, externalServer, verifiedProfile } from '../support/external.ts'
import { totpCode } from '../support/factors/factors.ts'
import { passkeysOn } from '../support/factors/passkeys.ts'
import { codeIn, linkIn } from '../support/messages/mail-links.ts'
import type { ReceivedMail } from '../support/messages/mail-server.ts'
import { freePort } from '../support/processes/free-port.ts'
import { until } from '../support/processes/until.ts'
import { cases } from '../support/providers/documented.ts'
import { client as registered, startFakeProvider } from '../support/providers/fake-provider.ts'
import { signIdToken } from '../support/providers/keys.ts'
import { samlOn } from '../support/saml/server.ts'
import { adminToken } from '../support/users.ts'

export const site = 'http://app.example'

export type World = Awaited<ReturnType<typeof startWorld>>

export async function startWorld(t: TestContext, extraEnv: Record<string, string> = {}) {
  const { issuer } = await startFakeProvider(t, cases.google?.documented ?? assert.fail())
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const env = { ...everything(issuer), AUTH_API_EXTERNAL_URL: url, ...extraEnv }
  const server = await externalServer(t, { dev: true, env })
  const { app, fakes, mail } = server
  await app.listen({ host: '127.0.0.1', port })
  const read = new Set<ReceivedMail>()
  const readTexts = new Set<string>()
  let users = 0

  /** The oldest unread email to the address. */
  async function nextEmail(to: string) {
    const message = await mail.waitFor((candidate) => candidate.to === to && !read.has(candidate))
    read.add(message)
    return { code: codeIn(message), link: linkIn(message) }
  }

  /** The `token_hash` of a template whose link leads to a page of the application. */
  async function nextTokenHash(to: string): Promise<string> {
    const message = await mail.waitFor((candidate) => candidate.to === to && !read.has(candidate))
    read.add(message)
    const hash = /[?&]token_hash=([\w-]+)/.exec(message.mail.text ?? '')?.[1]
    return hash ?? assert.fail('the email has no token_hash')
  }

  /** Of a mail that has no link. */
  async function nextCode(to: string): Promise<string> {
    const message = await mail.waitFor((candidate) => candidate.to === to && !read.has(candidate))
    read.add(message)
    return codeIn(message)
  }

  /** The code of the next SMS to the number in digits. */
  async function nextText(phone: string): Promise<string> {
    // In dev mode texts wait in the inbox instead of going to a provider.
    const newest = () =>
      app.devInbox?.list().find(({ to, id }) => to === `+${phone}` && !readTexts.has(id))
    await until(async () => newest() !== undefined)
    const text = newest() ?? assert.fail()
    readTexts.add(text.id)
    return text.code ?? assert.fail('the text has no code')
  }

  /** Where a mailed link leads in the end. */
  async function open(link: string): Promise<URL> {
    return new URL(await fetchRedirect(link))
  }

  /** From the address that the client gave to the provider and back, as a user new unless they are named. */
  async function visit(address: string, who = newUser()): Promise<URL> {
    const provider =
      new URL(address).searchParams.get('provider') === 'gitlab' ? 'gitlab' : 'github'
    describe(fakes, provider, who)
    const isOurs = new URL(address).origin === url
    const there = isOurs ? await fetchRedirect(address) : address
    const back = await fetchRedirect(withoutExtras(there))
    return new URL(await fetchRedirect(`${url}/callback${new URL(back).search}`))
  }

  function newUser() {
    users += 1
    return verifiedProfile(`visitor${users}@ex.test`, String(1000 + users))
  }

  /** For `provider: 'keycloak'`. */
  function idToken(sub: string, email: string): Promise<string> {
    const claims = { iss: issuer, aud: registered.id, sub, email, email_verified: true }
    return signIdToken(claims, new Date())
  }

  const [serviceKey, anonKey] = [await adminToken(app), await adminToken(app, 'anon')]
  return {
    app,
    url,
    serviceKey,
    anonKey,
    nextEmail,
    nextCode,
    nextTokenHash,
    nextText,
    open,
    fetchRedirect,
    visit,
    idToken,
    totp: totpCode,
  }
}

function everything(issuer: string): Record<string, string> {
  return {
    ...passkeysOn,
    ...samlOn,
    AUTH_EXTERNAL_WEB3_ETHEREUM_ENABLED: 'true',
    AUTH_EXTERNAL_WEB3_SOLANA_ENABLED: 'true',
    AUTH_MAILER_AUTOCONFIRM: 'false',
    AUTH_EXTERNAL_PHONE_ENABLED: 'true',
    AUTH_SMS_MAX_FREQUENCY: '0',
    AUTH_RATE_LIMIT_SMS_SENT: '100000',
    AUTH_MFA_PHONE_ENROLL_ENABLED: 'true',
    AUTH_MFA_PHONE_VERIFY_ENABLED: 'true',
    AUTH_MFA_PHONE_MAX_FREQUENCY: '0',
    AUTH_EXTERNAL_KEYCLOAK_ENABLED: 'true',
    AUTH_EXTERNAL_KEYCLOAK_URL: issuer,
    AUTH_EXTERNAL_KEYCLOAK_CLIENT_ID: registered.id,
    AUTH_EXTERNAL_KEYCLOAK_ID_TOKEN_ONLY: 'true',
    AUTH_EXTERNAL_KEYCLOAK_REDIRECT_URI: registered.redirectUri,
  }
}

/** The fake provider accepts its documented parameters only. */
function withoutExtras(address: string): string {
  const url = new URL(address)
  for (const name of ['redirect_to', 'skip_http_redirect', 'flow_type']) {
    url.searchParams.delete(name)
  }
  return url.href
}

async function fetchRedirect(address: string): Promise<string> {
  const response = await fetch(address, { redirect: 'manual' })
  assert.ok([302, 303].includes(response.status), `${response.status} ${await response.text()}`)
  return response.headers.get('location') ?? ''
}
