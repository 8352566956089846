/** Challenges that are asked for while their session ends: they belong to nobody, and are not made. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../schemas/session.ts'
import { addTotp, claimsOf, everyFactor, send } from '../support/factors.ts'
import { holdEndOfSession } from '../support/held-person.ts'
import { passkeysOn } from '../support/passkeys.ts'
import { newPerson } from '../support/people.ts'
import { outcomeOf } from '../support/requests.ts'
import { type App, build } from '../support/server.ts'

const requests: Record<string, (app: App, person: Session) => Promise<string>> = {
  'a challenge of a second factor': async (app, person) =>
    `/factors/${(await addTotp(app, person)).id}/challenge`,
  'a challenge of a new passkey': async () => '/passkeys/registration/options',
}

suite('a session that ends meanwhile', () => {
  for (const [what, urlFor] of Object.entries(requests)) {
    test(`${what} is refused`, async (t) => {
      const { app } = await build(t, { env: { ...everyFactor, ...passkeysOn } })
      const person = await newPerson(app)
      const url = await urlFor(app, person)
      const ending = await holdEndOfSession(app, String(claimsOf(person).session_id))
      const asked = await ending.queue(1, () => send(app, 'POST', url, person))
      await ending.release()
      assert.deepEqual(outcomeOf(await asked.answer), [403, 'session_not_found'])
    })
  }
})
