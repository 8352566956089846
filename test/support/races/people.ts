/** The people of a race: each has an account of their own, and is asked about afterwards. */
import assert from 'node:assert/strict'

import type { Session } from '../../../schemas/session.ts'
import { adminToken, createdPerson, newAddress, password, signIn } from '../people.ts'
import { getUser, refresh } from '../requests.ts'
import type { Built } from '../server.ts'
import type { Answer } from './pairs.ts'

export const newPassword = 'another passphrase of theirs'

export type People = Awaited<ReturnType<typeof peopleOf>>

export async function peopleOf({ app, mail }: Pick<Built, 'app' | 'mail'>) {
  // Made before: in a race, nothing but the request itself must speak to the database.
  const authorization = `Bearer ${await adminToken(app)}`

  async function create(more: object = {}): Promise<{ id: string; email: string }> {
    const email = newAddress()
    const { id } = await createdPerson(app, { email, email_confirm: true, password, ...more })
    return { id, email }
  }

  return {
    ...{ app, mail, create },

    asAdmin: (method: 'POST' | 'PUT' | 'DELETE', url: string, payload?: object): Promise<Answer> =>
      app.inject({ method, url, headers: { authorization }, ...(payload && { payload }) }),

    /** Somebody with the password of everybody here, signed in. */
    async createSignedIn(more: object = {}) {
      const person = await create(more)
      const answer = await signIn(app, { email: person.email })
      assert.equal(answer.statusCode, 200, answer.body)
      return { ...person, ...answer.json<Session>() }
    },

    /** Whether the tokens of an answer open anything. */
    async opens(answer: Answer): Promise<boolean> {
      if (answer.statusCode !== 200) return false
      const session = answer.json<Session>()
      const seen = await getUser(app, session)
      const refreshed = await refresh(app, session.refresh_token)
      return seen.statusCode === 200 || refreshed.statusCode === 200
    },

    async signsIn(email: string, password: string): Promise<boolean> {
      return (await signIn(app, { email, password })).statusCode === 200
    },
  }
}
