/** Emails that users merely claim do not block their owners. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import type { User } from '../../../schemas/user.ts'
import { adminCall, asAdmin } from '../../support/admin.ts'
import { verifiedProfile } from '../../support/external.ts'
import { nextId, unlink } from '../../support/linking.ts'
import { emailAfter } from '../../support/messages/mail-journeys.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import {
  codeAfter,
  type PhoneServer,
  sharedSmsServer,
} from '../../support/messages/phone-journeys.ts'
import { sharedExternalServers, sharedServers } from '../../support/processes/shared-servers.ts'
import { call, changeUser, verify } from '../../support/requests.ts'
import type { build } from '../../support/server.ts'
import {
  anonymousUser,
  confirmedUser,
  newAddress,
  newNumber,
  password,
  signUp,
} from '../../support/users.ts'

const sub = crypto.randomUUID()

/** All claims of an identity. */
const claims = (email: string) => ({
  email,
  phone: '15550009999',
  sub,
  email_verified: true,
  phone_verified: true,
  name: 'Mallory',
})

interface Made {
  id: string
  email?: string
  phone?: string
}

type Source = (server: PhoneServer, data: object) => Promise<Made>

const env = { AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' }

const sources: Record<string, Source> = {
  'a sign-up by phone': async (server, data) => {
    const phone = newNumber()
    const body = { phone, password, data }
    const token = await codeAfter(server, phone, () => call(server.app, '/signup', body))
    const verified = await verify(server.app, { type: 'sms', phone, token })
    return { id: verified.json<Session>().user.id, phone }
  },
  'an OTP to a new phone': async (server, data) => {
    const phone = newNumber()
    const token = await codeAfter(server, phone, () => call(server.app, '/otp', { phone, data }))
    const verified = await verify(server.app, { type: 'sms', phone, token })
    return { id: verified.json<Session>().user.id, phone }
  },
  'a repeated sign-up by phone': async (server, data) => {
    const phone = newNumber()
    await codeAfter(server, phone, () => call(server.app, '/signup', { phone, password }))
    const again = { phone, password, data }
    await codeAfter(server, phone, () => call(server.app, '/signup', again))
    return { ...(await findId(server, { phone })), phone }
  },
  'a sign-up by email': async (server, data) => {
    const email = newAddress()
    const body = { email, password, data }
    const message = await emailAfter(server, email, () => call(server.app, '/signup', body))
    await verify(server.app, { type: 'signup', email, token: codeIn(message) })
    return { ...(await findId(server, { email })), email }
  },
  'a magic link to a new address': async (server, data) => {
    const email = newAddress()
    await emailAfter(server, email, () => call(server.app, '/otp', { email, data }))
    return { ...(await findId(server, { email })), email }
  },
  'an invitation': async (server, data) => {
    const email = newAddress()
    const { id } = await adminCall(server.app, 'POST', '/invite', { email, data })
    return { id, email }
  },
  'a generated link': async (server, data) => {
    const email = newAddress()
    const body = { type: 'signup', email, password, data }
    const { id } = await adminCall(server.app, 'POST', '/admin/generate_link', body)
    return { id, email }
  },
  'an admin': async (server, data) => {
    const [email, phone] = [newAddress(), newNumber()]
    const body = { email, phone, user_metadata: data, app_metadata: data }
    const { id } = await adminCall(server.app, 'POST', '/admin/users', body)
    await adminCall(server.app, 'PUT', `/admin/users/${id}`, { user_metadata: data })
    return { id, email, phone }
  },
  'an anonymous user who adds a phone': async (server, data) => {
    const phone = newNumber()
    const { access_token: token, user } = await anonymousUser(server.app, { data })
    const code = await codeAfter(server, phone, () =>
      changeUser(server.app, token, { phone, data }),
    )
    await verify(server.app, { type: 'phone_change', phone, token: code })
    return { id: user.id, phone }
  },
}

suite('email in user metadata', () => {
  const shared = sharedSmsServer({ env })

  for (const [name, make] of Object.entries(sources)) {
    test(`${name}: does not fill identity claims, and the owner can sign up`, async () => {
      const server = await shared()
      const victim = newAddress('victim')
      const { id, email, phone } = await make(server, claims(victim))
      for (const { provider, identity_data: data, email: matched } of await listIdentities(
        server,
        id,
      )) {
        assert.equal(data.sub, id)
        assert.equal(data.email, provider === 'email' ? email : undefined)
        assert.equal(matched, provider === 'email' ? email : null)
        if (data.phone !== undefined) assert.equal(data.phone, phone)
        if (provider === 'phone') assert.notEqual(data.email_verified, true)
        if (provider === 'email') assert.notEqual(data.phone_verified, true)
      }
      await ownerSignsUp(server, victim)
    })
  }
})

interface Squat {
  provider: string
  email_verified: unknown
}

/** As earlier releases, other servers or a user's own linking left them. */
const squats: Record<string, Squat> = {
  'of a phone identity': { provider: 'phone', email_verified: false },
  'of a phone identity that calls it verified': { provider: 'phone', email_verified: true },
  'of a former email of the user': { provider: 'email', email_verified: true },
  'of a provider that did not verify it': { provider: 'github', email_verified: false },
  'of a provider without verification status': { provider: 'github', email_verified: undefined },
  'of a provider with an unknown verification status': {
    provider: 'github',
    email_verified: 'maybe',
  },
}

suite('email in an identity', () => {
  const servers = sharedServers()
  const external = sharedExternalServers()
  for (const [name, squat] of Object.entries(squats)) {
    test(`${name}: does not take the email`, async () => {
      const server = await servers(env)
      const { app } = server
      const squatter = await adminCall(app, 'POST', '/admin/users', { phone: newNumber() })
      const victim = newAddress('victim')
      await squatOn(server, squatter.id, victim, squat)

      await ownerSignsUp(server, victim)
      assert.notEqual((await findId(server, { email: victim })).id, squatter.id)

      const other = newAddress('victim')
      await squatOn(server, squatter.id, other, squat)
      const made = await asAdmin(app, 'POST', '/admin/users', { email: other })
      assert.equal(made.statusCode, 200, made.body)

      const third = newAddress('victim')
      await squatOn(server, squatter.id, third, squat)
      const guest = await anonymousUser(app)
      await emailAfter(server, third, () => changeUser(app, guest.access_token, { email: third }))
    })

    test(`${name}: does not sign the verified owner in to the squatter’s account`, async () => {
      const server = await external()
      const squatter = await anonymousUser(server.app)
      const victim = newAddress('victim')
      await squatOn(server, squatter.user.id, victim, squat)
      const id = nextId()
      const seen = await server.signInWith('gitlab', verifiedProfile(victim, id))
      assert.ok(seen.fragment.access_token, JSON.stringify(seen.query))
      const user = await server.findUserBy({ provider: 'gitlab', id })
      assert.notEqual(user?.id, squatter.user.id)
    })
  }

  test('of a provider that verified it is taken, as boolean or string', async () => {
    const server = await servers(env)
    for (const email_verified of [true, 'true']) {
      const owner = await adminCall(server.app, 'POST', '/admin/users', { phone: newNumber() })
      const email = newAddress()
      await squatOn(server, owner.id, email, { provider: 'github', email_verified })
      const response = await call(server.app, '/signup', { email, password })
      assert.deepEqual(response.json<User>().identities, [])
      const made = await asAdmin(server.app, 'POST', '/admin/users', { email })
      assert.equal(made.json().error_code, 'email_exists')
    }
  })

  test('does not become the account’s email by unlinking another identity', async () => {
    const server = await external()
    const session = await confirmedUser(server)
    const { id } = session.user
    const victim = newAddress('victim')
    await squatOn(server, id, victim, { provider: 'phone', email_verified: true })
    const own = session.user.identities?.[0]?.identity_id ?? ''
    await unlink(server, session, own)
    const { email } = await adminCall(server.app, 'GET', `/admin/users/${id}`)
    assert.notEqual(email, victim)
  })
})

type Server = Pick<Awaited<ReturnType<typeof build>>, 'app' | 'mail'>

async function ownerSignsUp(server: Server, email: string): Promise<void> {
  const message = await emailAfter(server, email, () => signUp(server.app, { email }))
  const body = { type: 'signup', email, token: codeIn(message) }
  const verified = await verify(server.app, body)
  assert.equal(verified.json<Session>().user?.email, email, verified.body)
}

async function squatOn({ app }: Server, user_id: string, email: string, squat: Squat) {
  const { provider, email_verified } = squat
  const data = { sub: user_id, email, email_verified }
  await app.db
    .insertInto('identities')
    .values({
      user_id,
      provider,
      provider_id: crypto.randomUUID(),
      identity_data: JSON.stringify(data),
      last_sign_in_at: null,
      created_at: new Date(),
      updated_at: new Date(),
    })
    .execute()
}

function findId({ app }: Server, by: { email: string } | { phone: string }) {
  const [column, value] =
    'email' in by ? (['email', by.email] as const) : (['phone', by.phone] as const)
  return app.db.selectFrom('users').select('id').where(column, '=', value).executeTakeFirstOrThrow()
}

function listIdentities({ app }: Server, id: string) {
  return app.db
    .selectFrom('identities')
    .select(['provider', 'identity_data', 'email'])
    .where('user_id', '=', id)
    .execute()
}
