/** A second factor that is confirmed after its session or the factor changed. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { asAdmin } from '../../support/admin.ts'
import {
  addTotp,
  challenge,
  everyFactor,
  send,
  stepUp,
  tokenClaims,
  verifyChallenge,
} from '../../support/factors/factors.ts'
import {
  browserOptions,
  enrolKey,
  finish,
  give,
  userWithSecurityKey,
} from '../../support/factors/key-journeys.ts'
import {
  addPasskey,
  createRegistrationChallenge,
  finishRegistration,
  newDevice,
  passkeysOn,
} from '../../support/factors/passkeys.ts'
import { newSecurityKey } from '../../support/factors/security-key.ts'
import { lockUserRow } from '../../support/locked-user.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { changeUser, statusAndCode } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { autoconfirm, signedIn, signUpUser } from '../../support/users.ts'

type Send = () => ReturnType<typeof send>

/** A prepared request and the expected status of its rejection. */
const requiringAal2: Record<string, [(app: App, user: Session) => Promise<Send>, number]> = {
  'cannot add a passkey': [
    async (app, user) => {
      const { challenge_id, options } = await createRegistrationChallenge(app, user)
      const credential = newDevice().create(options)
      return () => finishRegistration(app, user, { challenge_id, credential })
    },
    403,
  ],
  'cannot delete a passkey': [
    async (app, user) => {
      const { passkey } = await addPasskey(app, user)
      return () => send(app, 'DELETE', `/passkeys/${passkey.id}`, user)
    },
    403,
  ],
  'cannot set a password': [
    async (app, { access_token }) =>
      () =>
        changeUser(app, access_token, { password: 'something else entirely' }),
    401,
  ],
  'cannot delete the account': [async (app, user) => () => send(app, 'DELETE', '/user', user), 401],
}

suite('late enrollment', () => {
  const serverFor = sharedServers()

  test('rejects confirming a factor enrolled at aal2 once the session is back at aal1', async () => {
    const { app } = await serverFor(everyFactor)
    const user = await signUpUser(app)
    const stolen = await addTotp(app, user, 'stolen')
    const attacker = await stepUp(app, user, stolen)
    const owner = await stepUp(app, await signedIn(app, user.email), stolen, 1)
    const own = await userWithSecurityKey(app, owner, 'own')
    const begun = await enrolKey(app, attacker, 'begun')
    assert.equal((await send(app, 'DELETE', `/factors/${stolen.id}`, own.session)).statusCode, 200)

    const key = newSecurityKey()
    const pending = await challenge(app, attacker, begun.id)
    const made = key.create(browserOptions(pending))
    const rejected = await give(app, attacker, begun.id, pending.id, made)
    assert.deepEqual(statusAndCode(rejected), [403, 'insufficient_aal'])

    const again = await challenge(app, attacker, own.id)
    const steppedUp = await finish(
      app,
      attacker,
      own.id,
      again.id,
      own.key.get(browserOptions(again)),
    )
    assert.equal(tokenClaims(steppedUp).aal, 'aal2')
  })

  test('rejects confirming a factor after AUTH_MFA_FRESHNESS', async (t) => {
    const { app } = await serverFor({ ...everyFactor, AUTH_MFA_FRESHNESS: '10m' })
    const { session } = await userWithSecurityKey(app)
    const begun = await addTotp(app, session, 'begun')
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 601_000 })
    const { id: challenge_id } = await challenge(app, session, begun.id)
    const url = `/factors/${begun.id}/verify`
    const late = await send(app, 'POST', url, session, { challenge_id, code: begun.code() })
    assert.deepEqual(statusAndCode(late), [403, 'insufficient_aal'])
  })

  test('rejects a second security key registered for another challenge of the factor', async () => {
    const { app } = await serverFor(everyFactor)
    const user = await signUpUser(app)
    const { id } = await enrolKey(app, user)
    const [pending, requestedAgain] = [
      await challenge(app, user, id),
      await challenge(app, user, id),
    ]
    const [first, second] = [newSecurityKey(), newSecurityKey()]
    const session = await finish(app, user, id, pending.id, first.create(browserOptions(pending)))

    const made = second.create(browserOptions(requestedAgain))
    const late = await give(app, session, id, requestedAgain.id, made)
    assert.deepEqual(statusAndCode(late), [422, 'mfa_challenge_expired'])

    const next = await challenge(app, session, id)
    await finish(app, session, id, next.id, first.get(browserOptions(next)))
  })

  test('notifies once when two codes confirm a factor concurrently', async () => {
    const notices = { AUTH_MAILER_NOTIFICATIONS_MFA_FACTOR_ENROLLED_ENABLED: 'true' }
    const { app } = await serverFor({ ...everyFactor, ...notices })
    const user = await signUpUser(app)
    const factor = await addTotp(app, user)
    const requested = [await challenge(app, user, factor.id), await challenge(app, user, factor.id)]
    const lock = await lockUserRow(app, user.user.id)
    const responses = []
    for (const [place, { id: challenge_id }] of requested.entries()) {
      const verification = { challenge_id, code: factor.code(place) }
      responses.push(
        await lock.queue(place + 1, () => verifyChallenge(app, user, factor.id, verification)),
      )
    }
    await lock.release()
    for (const { response } of responses) assert.equal((await response).statusCode, 200)

    const { rows } = await app.pool.query(
      `select count(*)::int from auth.postern_mail_messages where kind like 'mfa_factor_enrolled%'`,
    )
    assert.deepEqual(rows, [{ count: 1 }])
  })

  for (const [what, [prepare, status]] of Object.entries(requiringAal2)) {
    test(`after a concurrent enrollment of a second factor, a user ${what} at aal1`, async () => {
      const env = { ...autoconfirm, ...passkeysOn, AUTH_USER_SELF_DELETE_ENABLED: 'true' }
      const { app } = await serverFor(env)
      const user = await signUpUser(app)
      const sendIt = await prepare(app, user)
      const lock = await lockUserRow(app, user.user.id)
      const late = await lock.queue(1, sendIt)
      await lock.query(
        `insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, created_at, updated_at)
          values (gen_random_uuid(), $1, 'phone app', 'totp', 'verified', now(), now())`,
        [user.user.id],
      )
      await lock.release()
      assert.deepEqual(statusAndCode(await late.response), [status, 'insufficient_aal'])
    })
  }

  test('rejects enrolling a factor after the session was revoked', async () => {
    const { app } = await serverFor(everyFactor)
    const user = await signUpUser(app)
    const { id } = user.user

    const lock = await lockUserRow(app, id)
    const ended = await lock.queue(1, () => asAdmin(app, 'DELETE', `/admin/users/${id}/sessions`))
    const enrolment = { factor_type: 'totp' }
    const added = await lock.queue(2, () => send(app, 'POST', '/factors', user, enrolment))
    await lock.release()

    assert.equal((await ended.response).statusCode, 204)
    assert.deepEqual(statusAndCode(await added.response), [403, 'session_not_found'])
  })
})
