/**
 * Somebody signs up with an address that is not theirs and waits. Whatever its owner then does to get in, the
 * stranger's password must not work afterwards, unless the owner confirmed the very sign-up it came with.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../schemas/session.ts'
import type { User } from '../../schemas/user.ts'
import { adminCall } from '../support/admin.ts'
import { proven, unproven } from '../support/external.ts'
import { addTotp, prove } from '../support/factors.ts'
import { link, nextId } from '../support/linking.ts'
import { landing, mailAfter, open } from '../support/mail-journeys.ts'
import { codeIn } from '../support/mail-links.ts'
import type { ReceivedMail } from '../support/mail-server.ts'
import {
  autoconfirm,
  createdPerson,
  invite,
  newAddress,
  signIn,
  signUp,
} from '../support/people.ts'
import { makeCodes, remaining } from '../support/recovery-codes.ts'
import { call, getUser, outcomeOf, verify } from '../support/requests.ts'
import type { Built } from '../support/server.ts'
import { sharedExternalServers, sharedServers } from '../support/shared-servers.ts'

const strangers = "the stranger's password"
const owners = "the owner's password"

type Step = 'stranger signs up' | 'owner signs up' | 'magic link' | 'recovery' | 'invitation'

const steps: Record<Step, (server: Built, email: string) => Promise<ReceivedMail>> = {
  'stranger signs up': (server, email) =>
    mailAfter(server, email, () =>
      signUp(server.app, { email, password: strangers }, { data: { name: 'Mallory' } }),
    ),
  'owner signs up': (server, email) =>
    mailAfter(server, email, () =>
      signUp(server.app, { email, password: owners }, { data: { name: 'Ann' } }),
    ),
  'magic link': (server, email) =>
    mailAfter(server, email, () => call(server.app, '/otp', { email })),
  recovery: (server, email) =>
    mailAfter(server, email, () => call(server.app, '/recover', { email })),
  invitation: invite,
}

/**
 * Every order of these after a stranger's sign-up, one to three steps long. After an invitation nobody signs up: see
 * test/hostile/06-invited-people.test.ts.
 */
function orders(): Step[][] {
  const later: Step[] = ['owner signs up', 'magic link', 'recovery', 'invitation']
  const one = later.map((step): Step[] => [step])
  const two = later.flatMap((a) => later.filter((b) => b !== a).map((b): Step[] => [a, b]))
  const again = later.flatMap((a): Step[][] => [
    [a, 'stranger signs up'],
    ['stranger signs up', a],
  ])
  const between = two.map(([a, b]): Step[] => [a as Step, 'stranger signs up', b as Step])
  return [...one, ...two, ...again, ...between].filter(hasNoSignUpAfterInvitation)
}

function hasNoSignUpAfterInvitation(order: Step[]): boolean {
  const invitation = order.indexOf('invitation')
  return invitation < 0 || !order.slice(invitation).some((step) => step.endsWith('signs up'))
}

suite("a stranger's sign-up with somebody else's address", { concurrency: 3 }, () => {
  const servers = sharedServers()

  for (const later of orders()) {
    const order: Step[] = ['stranger signs up', ...later]
    test(order.join(', then '), async () => {
      const server = await servers()
      const email = newAddress()
      const mails: ReceivedMail[] = []
      for (const step of order) mails.push(await steps[step](server, email))
      const last = order.at(-1) as Step

      const session = await getIn(server, email, mails.at(-1))
      assert.equal(session.user.email, email)
      const strangerWorks =
        (await signIn(server.app, { email, password: strangers })).statusCode === 200
      assert.equal(strangerWorks, last === 'stranger signs up')
      const ownerWorks = (await signIn(server.app, { email, password: owners })).statusCode === 200
      assert.equal(ownerWorks, last === 'owner signs up')
      await areDead(server, mails.slice(0, -1))
    })
  }

  test('metadata of a sign-up that nobody confirmed goes with its password', async () => {
    const server = await servers()
    const email = newAddress()
    await steps['stranger signs up'](server, email)
    const message = await mailAfter(server, email, () =>
      call(server.app, '/otp', { email, data: { name: 'Ann' } }),
    )
    const { user } = await getIn(server, email, message)
    assert.equal(user.user_metadata.name, 'Ann')
    assert.equal(user.identities?.[0]?.identity_data?.name, 'Ann')
  })

  test('an invitation keeps what the admin wrote, whatever others ask for meanwhile', async () => {
    const server = await servers()
    const email = newAddress()
    await invite(server, email, { data: { team: 'blue' } })
    await mailAfter(server, email, () => call(server.app, '/otp', { email, data: { team: 'red' } }))
    const again = await steps.invitation(server, email)
    const { user } = await getIn(server, email, again)
    assert.equal(user.user_metadata.team, 'blue')
  })

  test('a session from before the proof ends with it', async () => {
    const server = await servers(autoconfirm)
    const email = newAddress()
    const before = await signUp(server.app, { email, password: strangers })
    await server.app.db
      .updateTable('users')
      .set({ email_confirmed_at: null })
      .where('email', '=', email)
      .execute()
    await getIn(server, email, await steps.recovery(server, email))
    const response = await getUser(server.app, before.json<Session>())
    assert.equal(response.json().error_code, 'session_not_found')
  })

  test('second factors and recovery codes from before the proof are gone', async () => {
    const server = await servers({ AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true' })
    const { app } = server
    const email = newAddress()
    await steps['stranger signs up'](server, email)
    const stranger = (await signIn(app, { email, password: strangers })).json<Session>()
    const raised = await prove(app, stranger, await addTotp(app, stranger))
    assert.equal((await makeCodes(app, raised)).statusCode, 200)
    const session = await getIn(server, email, await steps['magic link'](server, email))
    assert.equal(session.user.id, stranger.user.id)
    assert.equal(session.user.factors, undefined)
    assert.equal(await remaining(app, session), 0)
  })

  test('an account with a proven phone is not signed up again by its unproven mail address', async () => {
    const server = await servers()
    const [email, phone] = [newAddress(), `1555${Date.now()}`.slice(0, 14)]
    const body = { email, phone, password: owners, phone_confirm: true }
    const made = await createdPerson(server.app, body)
    const signedUp = await signUp(server.app, { email, password: strangers })
    assert.deepEqual(signedUp.json<User>().identities, [])
    const { user } = await getIn(server, email, await steps['magic link'](server, email))
    assert.equal(user.id, made.id)
    assert.deepEqual(user.identities?.map(({ provider }) => provider).sort(), ['email', 'phone'])
    assert.equal((await signIn(server.app, { email, password: owners })).statusCode, 200)
  })

  test('an address that is only in an identity of a proven account is not signed up again', async () => {
    const server = await servers()
    const { app } = server
    const [email, phone] = [newAddress(), `1666${Date.now()}`.slice(0, 14)]
    const body = { phone, password: owners, phone_confirm: true }
    const made = await createdPerson(app, body)
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
    await signUp(app, { email, password: strangers })
    const kept = await adminCall<User>(app, 'GET', `/admin/users/${made.id}`)
    assert.equal(kept.identities?.length, 2)
    const grant = await signIn(app, { phone, password: strangers })
    assert.equal(grant.statusCode, 422, 'phones are off here, so the hash tells')
    const owner = await app.db
      .selectFrom('users')
      .select(['id', 'encrypted_password'])
      .where('id', '=', made.id)
      .executeTakeFirstOrThrow()
    assert.equal(await app.passwords.verifyFor('', owner, owners), true)
  })

  test('confirming while the stranger signs up once more never leaves their password behind a proof', async () => {
    const server = await servers()
    for (let round = 0; round < 5; round++) {
      const email = newAddress()
      const message = await steps['owner signs up'](server, email)
      const [, confirmed] = await Promise.all([
        signUp(server.app, { email, password: strangers }),
        open(server.app, message),
      ])
      const isIn = landing(confirmed).fragment.access_token !== undefined
      const strangerWorks =
        (await signIn(server.app, { email, password: strangers })).statusCode === 200
      assert.equal(strangerWorks, false)
      const ownerWorks = (await signIn(server.app, { email, password: owners })).statusCode === 200
      assert.equal(ownerWorks, isIn)
    }
  })
})

suite('an address that a provider proves', () => {
  const servers = sharedExternalServers()

  test('sessions, links and known devices from before the proof end with it', async () => {
    const server = await servers({ AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true' })
    const { app } = server
    const email = newAddress()
    const message = await steps['stranger signs up'](server, email)
    const device = { 'user-agent': 'of the stranger' }
    const stranger = await signIn(app, { email, password: strangers }, device)
    const session = stranger.json<Session>()
    await server.signInWith('github', proven(email, nextId()))
    assert.deepEqual(outcomeOf(await getUser(app, session)), [403, 'session_not_found'])
    await areDead(server, [message])
    const known = await app.db
      .selectFrom('postern_known_devices')
      .select('device_hash')
      .where('user_id', '=', session.user.id)
      .execute()
    assert.equal(known.length, 1)
  })
})

suite('a mailbox that answers', () => {
  const servers = sharedExternalServers()

  test('says nothing of other addresses, nor of who else has named its own', async () => {
    const server = await servers({ AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true' })
    const [mallory, victim, id] = [newAddress('mallory'), newAddress('victim'), nextId()]
    const message = await steps['stranger signs up'](server, mallory)
    const signedIn = await signIn(server.app, { email: mallory, password: strangers })
    await link(server, signedIn.json<Session>(), 'github', unproven(victim, id))
    const isVerified = async () => {
      const person = await server.personWith({ provider: 'github', id })
      const identity = person?.identities.find(({ provider }) => provider === 'github')
      return identity?.identity_data.email_verified
    }
    await getIn(server, mallory, message)
    assert.equal(await isVerified(), false)
    await getIn(server, victim, await steps['owner signs up'](server, victim))
    assert.equal(await isVerified(), false)
  })
})

/** Opens the mail's link, or types its code when the link's type has another way to be shown. */
async function getIn({ app }: Built, email: string, message: ReceivedMail | undefined) {
  assert.ok(message)
  const type = new URL(
    /https?:\S+verify\?\S+/.exec(message.mail.text ?? '')?.[0] ?? '',
  ).searchParams.get('type')
  const response = await verify(app, { type, email, token: codeIn(message) })
  assert.equal(response.statusCode, 200, response.body)
  return response.json<Session>()
}

async function areDead({ app }: Built, mails: ReceivedMail[]) {
  for (const message of mails) {
    assert.equal(landing(await open(app, message)).fragment.error_code, 'otp_expired')
  }
}
