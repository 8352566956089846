/**
 * An attacker signs up with another user’s email and waits. Whatever the owner does to sign in, the attacker’s password
 * must not be accepted afterwards, unless the owner confirmed the sign-up that it came with.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import type { User } from '../../../schemas/user.ts'
import { adminCall } from '../../support/admin.ts'
import { unverifiedProfile, verifiedProfile } from '../../support/external.ts'
import { addTotp, stepUp } from '../../support/factors/factors.ts'
import { makeCodes, remaining } from '../../support/factors/recovery-codes.ts'
import { link, nextId } from '../../support/linking.ts'
import { emailAfter, open, redirectParams } from '../../support/messages/mail-journeys.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import type { ReceivedMail } from '../../support/messages/mail-server.ts'
import { sharedExternalServers, sharedServers } from '../../support/processes/shared-servers.ts'
import { call, getUser, statusAndCode, verify } from '../../support/requests.ts'
import type { Built } from '../../support/server.ts'
import {
  adminCreatedUser,
  autoconfirm,
  invite,
  newAddress,
  newNumber,
  signIn,
  signUp,
} from '../../support/users.ts'

const attackerPassword = "the attacker's password"
const ownerPassword = "the owner's password"

type Step = 'attacker signs up' | 'owner signs up' | 'magic link' | 'recovery' | 'invitation'

const steps: Record<Step, (server: Built, email: string) => Promise<ReceivedMail>> = {
  'attacker signs up': (server, email) =>
    emailAfter(server, email, () =>
      signUp(server.app, { email, password: attackerPassword }, { data: { name: 'Mallory' } }),
    ),
  'owner signs up': (server, email) =>
    emailAfter(server, email, () =>
      signUp(server.app, { email, password: ownerPassword }, { data: { name: 'Ann' } }),
    ),
  'magic link': (server, email) =>
    emailAfter(server, email, () => call(server.app, '/otp', { email })),
  recovery: (server, email) =>
    emailAfter(server, email, () => call(server.app, '/recover', { email })),
  invitation: invite,
}

/**
 * Each order of these after an attacker’s sign-up, one to three steps long. Sign-ups after an invitation:
 * test/security/sign-up/invited-users.test.ts.
 */
function orders(): Step[][] {
  const later: Step[] = ['owner signs up', 'magic link', 'recovery', 'invitation']
  const one = later.map((step): Step[] => [step])
  const two = later.flatMap((a) => later.filter((b) => b !== a).map((b): Step[] => [a, b]))
  const again = later.flatMap((a): Step[][] => [
    [a, 'attacker signs up'],
    ['attacker signs up', a],
  ])
  const between = two.map(([a, b]): Step[] => [a as Step, 'attacker signs up', b as Step])
  return [...one, ...two, ...again, ...between].filter(hasNoSignUpAfterInvitation)
}

function hasNoSignUpAfterInvitation(order: Step[]): boolean {
  const invitation = order.indexOf('invitation')
  return invitation < 0 || !order.slice(invitation).some((step) => step.endsWith('signs up'))
}

suite('attacker’s sign-up with another user’s email', { concurrency: 3 }, () => {
  const servers = sharedServers()

  test('an unconfirmed phone that an admin set keeps its identity', async () => {
    const server = await servers()
    const [email, phone] = [newAddress(), newNumber()]
    const { id } = await adminCall(server.app, 'POST', '/admin/users', { email, phone })
    const token = codeIn(await steps['magic link'](server, email))
    assert.equal((await verify(server.app, { type: 'email', email, token })).statusCode, 200)
    const user = await adminCall(server.app, 'GET', `/admin/users/${id}`)
    assert.equal(user.phone, phone)
    assert.deepEqual(user.app_metadata.providers, ['email', 'phone'])
    assert.deepEqual(user.identities?.map(({ provider }) => provider).sort(), ['email', 'phone'])
  })

  for (const later of orders()) {
    const order: Step[] = ['attacker signs up', ...later]
    test(`signs the owner in after: ${order.join(', then ')}`, async () => {
      const server = await servers()
      const email = newAddress()
      const emails: ReceivedMail[] = []
      for (const step of order) emails.push(await steps[step](server, email))
      const last = order.at(-1) as Step

      const session = await signInByEmail(server, email, emails.at(-1))
      assert.equal(session.user.email, email)
      const attackerWorks =
        (await signIn(server.app, { email, password: attackerPassword })).statusCode === 200
      // With other requests for the email, all passwords are dropped: test/security/sign-up/competing-sign-ups.test.ts.
      const wasAlone = order.every((step) => ['attacker signs up', 'recovery'].includes(step))
      assert.equal(attackerWorks, last === 'attacker signs up' && wasAlone)
      const owner = await signIn(server.app, { email, password: ownerPassword })
      assert.equal(owner.statusCode, 400)
      await assertInvalid(server, emails.slice(0, -1))
    })
  }

  test('drops the metadata of an unconfirmed sign-up with its password', async () => {
    const server = await servers()
    const email = newAddress()
    await steps['attacker signs up'](server, email)
    const message = await emailAfter(server, email, () =>
      call(server.app, '/otp', { email, data: { name: 'Ann' } }),
    )
    const { user } = await signInByEmail(server, email, message)
    assert.equal(user.user_metadata.name, 'Ann')
    assert.equal(user.identities?.[0]?.identity_data?.name, 'Ann')
  })

  test('keeps the metadata of an invitation despite other requests', async () => {
    const server = await servers()
    const email = newAddress()
    await invite(server, email, { data: { team: 'blue' } })
    await emailAfter(server, email, () =>
      call(server.app, '/otp', { email, data: { team: 'red' } }),
    )
    const again = await steps.invitation(server, email)
    const { user } = await signInByEmail(server, email, again)
    assert.equal(user.user_metadata.team, 'blue')
  })

  test('revokes a session from before the verification', async () => {
    const server = await servers(autoconfirm)
    const email = newAddress()
    const before = await signUp(server.app, { email, password: attackerPassword })
    await server.app.db
      .updateTable('users')
      .set({ email_confirmed_at: null })
      .where('email', '=', email)
      .execute()
    await signInByEmail(server, email, await steps.recovery(server, email))
    const response = await getUser(server.app, before.json<Session>())
    assert.equal(response.json().error_code, 'session_not_found')
  })

  test('deletes factors and recovery codes from before the verification', async () => {
    const server = await servers({ AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true' })
    const { app } = server
    const email = newAddress()
    await steps['attacker signs up'](server, email)
    const attacker = (await signIn(app, { email, password: attackerPassword })).json<Session>()
    const steppedUp = await stepUp(app, attacker, await addTotp(app, attacker))
    assert.equal((await makeCodes(app, steppedUp)).statusCode, 200)
    const session = await signInByEmail(server, email, await steps['magic link'](server, email))
    assert.equal(session.user.id, attacker.user.id)
    assert.equal(session.user.factors, undefined)
    assert.equal(await remaining(app, session), 0)
  })

  test('does not replace an account with a verified phone by its unverified email', async () => {
    const server = await servers()
    const [email, phone] = [newAddress(), `1555${Date.now()}`.slice(0, 14)]
    const body = { email, phone, password: ownerPassword, phone_confirm: true }
    const made = await adminCreatedUser(server.app, body)
    const signedUp = await signUp(server.app, { email, password: attackerPassword })
    assert.deepEqual(signedUp.json<User>().identities, [])
    const { user } = await signInByEmail(server, email, await steps['magic link'](server, email))
    assert.equal(user.id, made.id)
    assert.deepEqual(user.identities?.map(({ provider }) => provider).sort(), ['email', 'phone'])
    assert.equal((await signIn(server.app, { email, password: ownerPassword })).statusCode, 200)
  })

  test('does not replace a verified account by an email of its identities', async () => {
    const server = await servers()
    const { app } = server
    const [email, phone] = [newAddress(), `1666${Date.now()}`.slice(0, 14)]
    const body = { phone, password: ownerPassword, phone_confirm: true }
    const made = await adminCreatedUser(app, body)
    await app.db
      .insertInto('identities')
      .values({
        user_id: made.id,
        provider: 'google',
        provider_id: made.id,
        identity_data: JSON.stringify({ sub: made.id, email, email_verified: true }),
        last_sign_in_at: null,
        created_at: new Date(),
        updated_at: new Date(),
      })
      .execute()
    await signUp(app, { email, password: attackerPassword })
    const stored = await adminCall<User>(app, 'GET', `/admin/users/${made.id}`)
    assert.equal(stored.identities?.length, 2)
    const grant = await signIn(app, { phone, password: attackerPassword })
    assert.equal(grant.statusCode, 422, 'phones are disabled here, so the hash is compared')
    const owner = await app.db
      .selectFrom('users')
      .select(['id', 'encrypted_password'])
      .where('id', '=', made.id)
      .executeTakeFirstOrThrow()
    assert.equal(await app.passwords.verifyFor('', owner, ownerPassword), true)
  })

  test('never confirms the attacker’s password when the confirmation races a sign-up', async () => {
    const server = await servers()
    for (let round = 0; round < 5; round++) {
      const email = newAddress()
      const message = await steps['owner signs up'](server, email)
      const [, confirmed] = await Promise.all([
        signUp(server.app, { email, password: attackerPassword }),
        open(server.app, message),
      ])
      const isIn = redirectParams(confirmed).fragment.access_token !== undefined
      const attackerWorks =
        (await signIn(server.app, { email, password: attackerPassword })).statusCode === 200
      assert.equal(attackerWorks, false)
      const ownerWorks =
        (await signIn(server.app, { email, password: ownerPassword })).statusCode === 200
      assert.equal(ownerWorks, isIn)
    }
  })
})

suite('email verified by a provider', () => {
  const servers = sharedExternalServers()

  test('revokes sessions, links and known devices from before the verification', async () => {
    const server = await servers({ AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true' })
    const { app } = server
    const email = newAddress()
    const message = await steps['attacker signs up'](server, email)
    const device = { 'user-agent': 'of the attacker' }
    const attacker = await signIn(app, { email, password: attackerPassword }, device)
    const session = attacker.json<Session>()
    await server.signInWith('github', verifiedProfile(email, nextId()))
    assert.deepEqual(statusAndCode(await getUser(app, session)), [403, 'session_not_found'])
    await assertInvalid(server, [message])
    const known = await app.db
      .selectFrom('postern_known_devices')
      .select('device_hash')
      .where('user_id', '=', session.user.id)
      .execute()
    assert.equal(known.length, 1)
  })
})

suite('verified email', () => {
  const servers = sharedExternalServers()

  test('does not confirm other emails of the account or other accounts with the same email', async () => {
    const server = await servers({ AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true' })
    const [mallory, victim, id] = [newAddress('mallory'), newAddress('victim'), nextId()]
    const message = await steps['attacker signs up'](server, mallory)
    const signedIn = await signIn(server.app, { email: mallory, password: attackerPassword })
    await link(server, signedIn.json<Session>(), 'github', unverifiedProfile(victim, id))
    const isVerified = async () => {
      const user = await server.findUserBy({ provider: 'github', id })
      const identity = user?.identities.find(({ provider }) => provider === 'github')
      return identity?.identity_data.email_verified
    }
    await signInByEmail(server, mallory, message)
    assert.equal(await isVerified(), false)
    await signInByEmail(server, victim, await steps['owner signs up'](server, victim))
    assert.equal(await isVerified(), false)
  })
})

/** Opens the link of the email, or verifies its code when the link of this type has another page. */
async function signInByEmail({ app }: Built, email: string, message: ReceivedMail | undefined) {
  assert.ok(message)
  const type = new URL(
    /https?:\S+verify\?\S+/.exec(message.mail.text ?? '')?.[0] ?? '',
  ).searchParams.get('type')
  const response = await verify(app, { type, email, token: codeIn(message) })
  assert.equal(response.statusCode, 200, response.body)
  return response.json<Session>()
}

async function assertInvalid({ app }: Built, emails: ReceivedMail[]) {
  for (const message of emails) {
    assert.equal(redirectParams(await open(app, message)).fragment.error_code, 'otp_expired')
  }
}
