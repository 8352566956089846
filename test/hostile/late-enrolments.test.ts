/** A second factor that is confirmed later than it was added: by then the session or the factor may not be what it was. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { asAdmin } from '../support/admin.ts'
import { addTotp, challenge, claimsOf, everyFactor, prove, send } from '../support/factors.ts'
import { holdPerson } from '../support/held-person.ts'
import { enrolKey, finish, give, optionsOf, withKey } from '../support/key-journeys.ts'
import { newPerson, signedIn } from '../support/people.ts'
import { outcomeOf } from '../support/requests.ts'
import { newSecurityKey } from '../support/security-key.ts'
import { build } from '../support/server.ts'
import { sharedServers } from '../support/shared-servers.ts'

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
