/** A second factor that is confirmed later than it was added: by then the session or the factor may not be what it was. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../schemas/session.ts'
import { asAdmin } from '../support/admin.ts'
import {
  addTotp,
  answer,
  challenge,
  claimsOf,
  everyFactor,
  prove,
  send,
} from '../support/factors.ts'
import { holdPerson } from '../support/held-person.ts'
import { enrolKey, finish, give, optionsOf, withKey } from '../support/key-journeys.ts'
import {
  addPasskey,
  askToRegister,
  finishRegistration,
  newDevice,
  passkeysOn,
} from '../support/passkeys.ts'
import { autoconfirm, newPerson, signedIn } from '../support/people.ts'
import { changeUser, outcomeOf } from '../support/requests.ts'
import { newSecurityKey } from '../support/security-key.ts'
import { type App, build } from '../support/server.ts'
import { sharedServers } from '../support/shared-servers.ts'

type Send = () => ReturnType<typeof send>

/** What is made ready to be sent, and the status that refuses it. */
const needingTheFactor: Record<string, [(app: App, person: Session) => Promise<Send>, number]> = {
  'adds no passkey': [
    async (app, person) => {
      const { challenge_id, options } = await askToRegister(app, person)
      const credential = newDevice().create(options)
      return () => finishRegistration(app, person, { challenge_id, credential })
    },
    403,
  ],
  'deletes no passkey': [
    async (app, person) => {
      const { passkey } = await addPasskey(app, person)
      return () => send(app, 'DELETE', `/passkeys/${passkey.id}`, person)
    },
    403,
  ],
  'sets no password': [
    async (app, { access_token }) =>
      () =>
        changeUser(app, access_token, { password: 'something else entirely' }),
    401,
  ],
  'does not delete the account': [
    async (app, person) => () => send(app, 'DELETE', '/user', person),
    401,
  ],
}

suite('late enrolments', () => {
  const serverFor = sharedServers()

  test('a session that fell back to aal1 confirms no factor that it began to add at aal2', async () => {
    const { app } = await serverFor(everyFactor)
    const person = await newPerson(app)
    const stolen = await addTotp(app, person, 'stolen')
    const thief = await prove(app, person, stolen)
    const owner = await prove(app, await signedIn(app, person.email), stolen, 1)
    const own = await withKey(app, owner, 'own')
    const begun = await enrolKey(app, thief, 'begun')
    assert.equal((await send(app, 'DELETE', `/factors/${stolen.id}`, own.session)).statusCode, 200)

    const key = newSecurityKey()
    const asked = await challenge(app, thief, begun.id)
    const made = key.create(optionsOf(asked))
    const refused = await give(app, thief, begun.id, asked.id, made)
    assert.deepEqual(outcomeOf(refused), [403, 'insufficient_aal'])

    const again = await challenge(app, thief, own.id)
    const raised = await finish(app, thief, own.id, again.id, own.key.get(optionsOf(again)))
    assert.equal(claimsOf(raised).aal, 'aal2')
  })

  test('nor does one whose proof is older than AUTH_MFA_FRESHNESS', async (t) => {
    const { app } = await serverFor({ ...everyFactor, AUTH_MFA_FRESHNESS: '10m' })
    const { session } = await withKey(app)
    const begun = await addTotp(app, session, 'begun')
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 601_000 })
    const { id: challenge_id } = await challenge(app, session, begun.id)
    const url = `/factors/${begun.id}/verify`
    const late = await send(app, 'POST', url, session, { challenge_id, code: begun.code() })
    assert.deepEqual(outcomeOf(late), [403, 'insufficient_aal'])
  })

  test('a second key, made for another challenge of the factor, does not replace the first', async () => {
    const { app } = await serverFor(everyFactor)
    const person = await newPerson(app)
    const { id } = await enrolKey(app, person)
    const [asked, askedAgain] = [await challenge(app, person, id), await challenge(app, person, id)]
    const [first, second] = [newSecurityKey(), newSecurityKey()]
    const session = await finish(app, person, id, asked.id, first.create(optionsOf(asked)))

    const made = second.create(optionsOf(askedAgain))
    const late = await give(app, session, id, askedAgain.id, made)
    assert.deepEqual(outcomeOf(late), [422, 'mfa_challenge_expired'])

    const next = await challenge(app, session, id)
    await finish(app, session, id, next.id, first.get(optionsOf(next)))
  })

  test('a factor that two right codes confirm at once is told of once', async () => {
    const notices = { AUTH_MAILER_NOTIFICATIONS_MFA_FACTOR_ENROLLED_ENABLED: 'true' }
    const { app } = await serverFor({ ...everyFactor, ...notices })
    const person = await newPerson(app)
    const factor = await addTotp(app, person)
    const asked = [await challenge(app, person, factor.id), await challenge(app, person, factor.id)]
    const held = await holdPerson(app, person.user.id)
    const answers = []
    for (const [place, { id: challenge_id }] of asked.entries()) {
      const proof = { challenge_id, code: factor.code(place) }
      answers.push(await held.queue(place + 1, () => answer(app, person, factor.id, proof)))
    }
    await held.release()
    for (const { answer } of answers) assert.equal((await answer).statusCode, 200)

    const { rows } = await app.pool.query(
      `select count(*)::int from auth.postern_mail_messages where kind like 'mfa_factor_enrolled%'`,
    )
    assert.deepEqual(rows, [{ count: 1 }])
  })

  for (const [what, [prepare, status]] of Object.entries(needingTheFactor)) {
    test(`whoever owes a second factor by now ${what}`, async (t) => {
      const env = { ...autoconfirm, ...passkeysOn, AUTH_USER_SELF_DELETE_ENABLED: 'true' }
      const { app } = await build(t, { env })
      const person = await newPerson(app)
      const sendIt = await prepare(app, person)
      const held = await holdPerson(app, person.user.id)
      const late = await held.queue(1, sendIt)
      await held.query(
        `insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, created_at, updated_at)
          values (gen_random_uuid(), $1, 'phone app', 'totp', 'verified', now(), now())`,
        [person.user.id],
      )
      await held.release()
      assert.deepEqual(outcomeOf(await late.answer), [status, 'insufficient_aal'])
    })
  }

  test('whoever was signed out meanwhile adds no factor', async (t) => {
    const { app } = await build(t, { env: everyFactor })
    const person = await newPerson(app)
    const { id } = person.user

    const held = await holdPerson(app, id)
    const ended = await held.queue(1, () => asAdmin(app, 'DELETE', `/admin/users/${id}/sessions`))
    const enrolment = { factor_type: 'totp' }
    const added = await held.queue(2, () => send(app, 'POST', '/factors', person, enrolment))
    await held.release()

    assert.equal((await ended.answer).statusCode, 204)
    assert.deepEqual(outcomeOf(await added.answer), [403, 'session_not_found'])
  })
})
