/** An autoconfirmed email is not verified: a user who verifies it later does not share the account with its creator. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { type ExternalServer, unverifiedProfile, verifiedProfile } from '../../support/external.ts'
import { link, nextId } from '../../support/linking.ts'
import { emailAfter, open, redirectParams } from '../../support/messages/mail-journeys.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import { buildWithSms, codeAfter } from '../../support/messages/phone-journeys.ts'
import {
  createClient,
  makePkce,
  ownConsentPage,
  signInClient,
  startAuthorization,
} from '../../support/oauth-server.ts'
import { sharedExternalServers } from '../../support/processes/shared-servers.ts'
import { call, changeUser, getUser, verify } from '../../support/requests.ts'
import type { App, Built } from '../../support/server.ts'
import {
  anonymousUser,
  autoconfirm,
  newAddress,
  newNumber,
  password,
  signIn,
  signUp,
  signUpUser,
} from '../../support/users.ts'

const works = async (app: App, who: object, tried = password) =>
  (await signIn(app, { ...who, password: tried })).statusCode === 200

/** The owner verifies the email; returns their session. */
type Verification = (server: ExternalServer, email: string) => Promise<{ token: string }>

const tokenIn = (fragment: Record<string, string>) =>
  fragment.access_token ?? assert.fail(JSON.stringify(fragment))

const byLink = async (server: Built, email: string, path: string) => {
  const message = await emailAfter(server, email, () => call(server.app, path, { email }))
  return { token: tokenIn(redirectParams(await open(server.app, message)).fragment) }
}

const verifications: Record<string, Verification> = {
  'by a provider that verified it': async (server, email) => {
    const { fragment } = await server.signInWith('github', verifiedProfile(email, nextId()))
    return { token: tokenIn(fragment) }
  },
  'by a sign-in link': (server, email) => byLink(server, email, '/magiclink'),
  'by a recovery': (server, email) => byLink(server, email, '/recover'),
  'by a code': async (server, email) => {
    const message = await emailAfter(server, email, () => call(server.app, '/otp', { email }))
    const verification = { type: 'email', email, token: codeIn(message) }
    return { token: (await verify(server.app, verification)).json<Session>().access_token }
  },
}

/** Ways an attacker takes the email; returns their session. */
type Squat = (server: ExternalServer, email: string) => Promise<Pick<Session, 'access_token'>>

const squats: Record<string, Squat> = {
  'by a sign-up': async ({ app }, email) => (await signUp(app, { email })).json<Session>(),
  'by an email change': async ({ app }, email) => {
    const guest = await anonymousUser(app)
    const changed = await changeUser(app, guest.access_token, { email, password })
    assert.equal(changed.statusCode, 200, changed.body)
    return guest
  },
  'by a provider that did not verify it': async (server, email) => {
    const { fragment } = await server.signInWith('gitlab', unverifiedProfile(email, nextId()))
    const session = { access_token: tokenIn(fragment) }
    await changeUser(server.app, session.access_token, { password })
    return session
  },
}

suite('AUTH_MAILER_AUTOCONFIRM: unverified email', () => {
  const servers = sharedExternalServers()

  for (const [how, squat] of Object.entries(squats)) {
    for (const [by, stepUp] of Object.entries(verifications)) {
      test(`taken ${how}, verified ${by}: drops the attacker’s password and session`, async () => {
        const server = await servers(autoconfirm)
        const email = newAddress()
        const attacker = await squat(server, email)
        assert.equal(await works(server.app, { email }), true)

        const owner = await stepUp(server, email)

        assert.equal(await works(server.app, { email }), false)
        assert.equal((await getUser(server.app, attacker)).statusCode, 403)
        const user = (await getUser(server.app, { access_token: owner.token })).json()
        assert.equal(user.email, email)
        const providers = user.identities.map(({ provider }: { provider: string }) => provider)
        assert.equal(providers.includes('gitlab'), false, providers.join())
      })
    }
  }

  test('drops the attacker’s phone', async () => {
    const server = await servers({ ...autoconfirm, AUTH_SMS_AUTOCONFIRM: 'true' })
    const [email, phone] = [newAddress(), newNumber()]
    const attacker = (await signUp(server.app, { email })).json<Session>()
    const changed = await changeUser(server.app, attacker.access_token, { phone })
    assert.equal(changed.statusCode, 200, changed.body)
    const { fragment } = await server.signInWith('github', verifiedProfile(email, nextId()))
    const user = (await getUser(server.app, { access_token: tokenIn(fragment) })).json()
    assert.equal(user.phone, '')
  })

  test('drops the attacker’s consent to an OAuth client', async () => {
    const server = await servers({ ...autoconfirm, ...ownConsentPage })
    const client = await createClient(server.app)
    const { email, ...attacker } = await signUpUser(server.app)
    await signInClient(server.app, client, attacker, { scope: 'email' })
    const { token } = await byLink(server, email, '/magiclink')
    const pkce = { code_challenge: makePkce().challenge, code_challenge_method: 'S256' }
    const id = await startAuthorization(server.app, client, { scope: 'email', ...pkce })
    const asked = await call(server.app, `/oauth/authorizations/${id}`, undefined, { token })
    assert.equal(asked.statusCode, 200, asked.body)
    assert.equal(asked.json().redirect_url, undefined, 'the owner was not asked')
  })

  test('keeps credentials that the owner sets after the verification', async () => {
    const server = await servers(autoconfirm)
    const { email } = await signUpUser(server.app)
    const owner = await byLink(server, email, '/recover')
    const chosen = 'the password of the owner'
    await changeUser(server.app, owner.token, { password: chosen })
    await server.signInWith('github', verifiedProfile(email, nextId()))
    await byLink(server, email, '/magiclink')
    assert.equal(await works(server.app, { email }, chosen), true)
  })

  test('does not block a provider identity of another account with the email', async () => {
    const server = await servers(autoconfirm)
    const email = newAddress()
    await signUp(server.app, { email })
    const owner = await signUpUser(server.app)
    await link(server, owner, 'github', verifiedProfile(email, nextId()))
    const id = nextId()
    await server.signInWith('gitlab', verifiedProfile(email, id))
    assert.equal((await server.findUserBy({ provider: 'gitlab', id }))?.id, owner.user.id)
  })
})

suite('AUTH_SMS_AUTOCONFIRM: unverified phone', () => {
  test('drops the attacker’s password and session once verified by a code', async (t) => {
    const server = await buildWithSms(t, { env: { AUTH_SMS_AUTOCONFIRM: 'true' } })
    const phone = newNumber()
    const attacker = (await signUp(server.app, { phone })).json<Session>()
    const token = await codeAfter(server, phone, () => call(server.app, '/otp', { phone }))
    const verified = await verify(server.app, { type: 'sms', phone, token })
    assert.equal(verified.statusCode, 200, verified.body)
    assert.equal(await works(server.app, { phone }), false)
    assert.equal((await getUser(server.app, attacker)).statusCode, 403)
  })
})
