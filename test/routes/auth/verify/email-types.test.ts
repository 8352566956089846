/** Each email type over real SMTP: its code and its link, for implicit and PKCE clients. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import type { Session } from '../../../../schemas/session.ts'
import type { User } from '../../../../schemas/user.ts'
import { asAdmin } from '../../../support/admin.ts'
import {
  emailAfter,
  emailedToken,
  open,
  pkcePair,
  redirectParams,
} from '../../../support/messages/mail-journeys.ts'
import { codeIn, linkIn } from '../../../support/messages/mail-links.ts'
import type { ReceivedMail } from '../../../support/messages/mail-server.ts'
import { sharedServers } from '../../../support/processes/shared-servers.ts'
import { call, statusAndCode, verify } from '../../../support/requests.ts'
import type { Built } from '../../../support/server.ts'
import { adminToken, confirmedUser, newAddress, password, signIn } from '../../../support/users.ts'

const target = 'http://app.example/welcome?from=mail'
const query = `?redirect_to=${encodeURIComponent(target)}`

interface Kind {
  subject: string
  /** The `type` of the link and of the session. */
  type: string
  /** The amr method of a PKCE client’s session; invitations have no PKCE client. */
  method?: string
  /** Creates the required users and sends the request that triggers the email. */
  request: (server: Built, email: string, fields: object) => Promise<ReceivedMail>
}

const kinds: Record<string, Kind> = {
  confirmation: {
    subject: 'Confirm your email address',
    type: 'signup',
    method: 'email/signup',
    request: (server, email, fields) =>
      emailAfter(server, email, () =>
        call(server.app, `/signup${query}`, { email, password, ...fields }),
      ),
  },
  'confirmation of a new user who requested a sign-in link': {
    subject: 'Confirm your email address',
    type: 'signup',
    method: 'email/signup',
    request: (server, email, fields) =>
      emailAfter(server, email, () => call(server.app, `/otp${query}`, { email, ...fields })),
  },
  'magic link': {
    subject: 'Your sign-in link',
    type: 'magiclink',
    method: 'magiclink',
    async request(server, email, fields) {
      await confirmedUser(server, email)
      return emailAfter(server, email, () =>
        call(server.app, `/magiclink${query}`, { email, ...fields }),
      )
    },
  },
  recovery: {
    subject: 'Reset your password',
    type: 'recovery',
    method: 'recovery',
    async request(server, email, fields) {
      await confirmedUser(server, email)
      return emailAfter(server, email, () =>
        call(server.app, `/recover${query}`, { email, ...fields }),
      )
    },
  },
  invitation: {
    subject: "You've been invited",
    type: 'invite',
    async request(server, email) {
      const token = await adminToken(server.app)
      return emailAfter(server, email, () =>
        call(server.app, `/invite${query}`, { email }, { token }),
      )
    },
  },
}

suite('email links', () => {
  const server = sharedServers()

  for (const [name, kind] of Object.entries(kinds)) {
    test(`${name}: sends the email`, async () => {
      const email = newAddress()
      const message = await kind.request(await server(), email, {})
      const { mail } = message
      assert.equal(message.to, email)
      assert.equal(mail.subject, kind.subject)
      assert.equal(message.from, 'auth@example.com')
      const link = new URL(linkIn(message))
      assert.equal(link.origin + link.pathname, 'http://auth.example/verify')
      assert.equal(link.searchParams.get('type'), kind.type)
      assert.equal(link.searchParams.get('redirect_to'), target)
      assert.match(emailedToken(message), /^[0-9a-f]{64}$/)
      const html = String(mail.html).replaceAll('&amp;', '&')
      assert.ok(html.includes(codeIn(message)), 'the HTML part has the code')
      assert.ok(html.includes(emailedToken(message)), 'the HTML part has the link')
    })

    test(`${name}: the link signs in and redirects to the app`, async () => {
      const { app } = await server()
      const email = newAddress()
      const response = await open(app, await kind.request(await server(), email, {}))
      const { site, query, fragment } = redirectParams(response)
      assert.equal(site, 'http://app.example/welcome')
      assert.deepEqual(query, { from: 'mail' })
      assert.deepEqual(Object.keys(fragment), [
        'access_token',
        'expires_at',
        'expires_in',
        'refresh_token',
        'token_type',
        'type',
      ])
      assert.equal(fragment.type, kind.type)
      assert.equal(response.headers['referrer-policy'], 'no-referrer')
      assert.equal(response.headers['cache-control'], 'no-store')
      await isConfirmed(await server(), fragment.access_token, email)
    })

    test(`${name}: the code signs in`, async () => {
      const { app } = await server()
      const email = newAddress()
      const token = codeIn(await kind.request(await server(), email, {}))
      const response = await verify(app, { type: kind.type, email, token })
      assert.equal(response.statusCode, 200, response.body)
      const session = response.json<Session>()
      assert.equal(session.type, kind.type)
      await isConfirmed(await server(), session.access_token, email)
    })

    test(`${name}: the token hash signs in`, async () => {
      const { app } = await server()
      const email = newAddress()
      const token_hash = emailedToken(await kind.request(await server(), email, {}))
      const response = await verify(app, { type: kind.type, token_hash })
      assert.equal(response.statusCode, 200, response.body)
      await isConfirmed(await server(), response.json<Session>().access_token, email)
    })

    const { method } = kind
    if (method === undefined) continue

    test(`${name}: the link of a PKCE client issues a code bound to its verifier`, async () => {
      const { app } = await server()
      const email = newAddress()
      const { verifier, fields } = pkcePair()
      const message = await kind.request(await server(), email, fields)
      assert.match(emailedToken(message), /^pkce_[\w-]{43}$/)
      const { query, fragment } = redirectParams(await open(app, message))
      assert.deepEqual(fragment, {})
      assert.deepEqual(Object.keys(query).sort(), ['code', 'from'])

      const wrong = { auth_code: query.code, code_verifier: pkcePair().verifier }
      const rejected = await call(app, '/token?grant_type=pkce', wrong)
      assert.equal(rejected.json().error_code, 'bad_code_verifier')
      const right = { auth_code: query.code, code_verifier: verifier }
      const response = await call(app, '/token?grant_type=pkce', right)
      assert.equal(response.statusCode, 200, response.body)
      const { access_token } = response.json<Session>()
      await isConfirmed(await server(), access_token, email)
      const { amr } = decodeJwt<{ amr: { method: string }[] }>(access_token)
      assert.equal(amr[0]?.method, method)
      const again = await call(app, '/token?grant_type=pkce', right)
      assert.equal(again.json().error_code, 'flow_state_not_found')
    })

    test(`${name}: the code of a PKCE client signs in`, async () => {
      const email = newAddress()
      const message = await kind.request(await server(), email, pkcePair().fields)
      const body = { type: kind.type, email, token: codeIn(message) }
      const response = await verify((await server()).app, body)
      assert.equal(response.statusCode, 200, response.body)
    })
  }

  test('type email accepts confirmations and sign-in links and returns their type', async () => {
    const { app } = await server()
    const email = newAddress()
    const send = () => call(app, '/otp', { email })
    const first = codeIn(await emailAfter(await server(), email, send))
    const signedUp = await verify(app, { type: 'email', email, token: first })
    assert.equal(signedUp.json<Session>().type, 'signup')
    const second = await emailAfter(await server(), email, send)
    const signedIn = await verify(app, { type: 'email', token_hash: emailedToken(second) })
    assert.equal(signedIn.json<Session>().type, 'magiclink')
  })

  for (const path of ['/otp', '/magiclink']) {
    test(`type magiclink accepts the first code and link of a user created by ${path}`, async () => {
      const { app } = await server()
      const send = async (email: string) =>
        emailAfter(await server(), email, () => call(app, path, { email }))
      const email = newAddress()
      const typed = { type: 'magiclink', email, token: codeIn(await send(email)) }
      assert.equal((await verify(app, typed)).json<Session>().user.email, email)
      const hash = { type: 'magiclink', token_hash: emailedToken(await send(newAddress())) }
      assert.equal((await verify(app, hash)).statusCode, 200)
    })
  }

  test('type recovery accepts no code and no link of a sign-in, which stay valid', async () => {
    const { app } = await server()
    const email = newAddress()
    await confirmedUser(await server(), email)
    for (const path of ['/otp', '/magiclink']) {
      const message = await emailAfter(await server(), email, () => call(app, path, { email }))
      const [token, token_hash] = [codeIn(message), emailedToken(message)]
      for (const presented of [{ email, token }, { token_hash }]) {
        const response = await verify(app, { type: 'recovery', ...presented })
        assert.deepEqual(statusAndCode(response), [403, 'otp_expired'], path)
      }
      const link = linkIn(message).replace('type=magiclink', 'type=recovery')
      const opened = redirectParams(await app.inject(link.replace('http://auth.example', '')))
      assert.equal(opened.fragment.error_code, 'otp_expired')
      assert.equal((await verify(app, { type: 'email', email, token })).statusCode, 200)
    }
    const generated = { type: 'magiclink', email }
    const { hashed_token } = (await asAdmin(app, 'POST', '/admin/generate_link', generated)).json()
    const made = await verify(app, { type: 'recovery', token_hash: hashed_token })
    assert.deepEqual(statusAndCode(made), [403, 'otp_expired'])
    // Each replaces the other, also by purpose.
    const recovery = await emailAfter(await server(), email, () => call(app, '/recover', { email }))
    const recovered = await verify(app, { type: 'recovery', email, token: codeIn(recovery) })
    assert.equal(recovered.json<Session>().type, 'recovery')
  })

  test('type magiclink accepts a recovery code', async () => {
    const { app } = await server()
    const email = newAddress()
    await confirmedUser(await server(), email)
    const send = () => call(app, '/recover', { email })
    const token = codeIn(await emailAfter(await server(), email, send))
    const response = await verify(app, { type: 'magiclink', email, token })
    assert.equal(response.statusCode, 200, response.body)
  })

  test('sets a password sent with the code only for a user without one', async () => {
    const { app } = await server()
    const email = newAddress()
    const invitation = await kinds.invitation?.request(await server(), email, {})
    assert.ok(invitation)
    const body = { type: 'invite', email, token: codeIn(invitation), password }
    const weak = await verify(app, { ...body, password: 'short' })
    assert.equal(weak.json().error_code, 'weak_password')
    assert.equal((await verify(app, body)).statusCode, 200)
    assert.equal((await signIn(app, { email })).statusCode, 200)

    const recovery = await emailAfter(await server(), email, () => call(app, '/recover', { email }))
    const other = 'another one altogether'
    const again = { type: 'recovery', email, token: codeIn(recovery), password: other }
    assert.equal((await verify(app, again)).statusCode, 200)
    assert.equal(
      (await signIn(app, { email, password: other })).json().error_code,
      'invalid_credentials',
    )
    assert.equal((await signIn(app, { email })).statusCode, 200)
  })
})

/** The token works, and its user has a confirmed email. */
async function isConfirmed({ app }: Built, token: string | undefined, email: string) {
  const response = await call(app, '/user', undefined, { token: token ?? '' })
  assert.equal(response.statusCode, 200, response.body)
  const user = response.json<User>()
  assert.equal(user.email, email)
  assert.ok(user.email_confirmed_at)
  assert.equal(user.user_metadata.email_verified, true)
  assert.equal(user.identities?.[0]?.identity_data?.email_verified, true)
  assert.deepEqual(user.app_metadata, { provider: 'email', providers: ['email'] })
}
