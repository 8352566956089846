/** The users of a race: each has an account, which is checked afterwards. */
import assert from 'node:assert/strict'

import type { Session } from '../../../schemas/session.ts'
import { getUser, refresh } from '../requests.ts'
import type { Built } from '../server.ts'
import { adminCreatedUser, adminToken, newAddress, password, signIn } from '../users.ts'
import type { Response } from './pairs.ts'

export const newPassword = 'another passphrase of theirs'

export type Users = Awaited<ReturnType<typeof createRaceUsers>>

export async function createRaceUsers({ app, mail }: Pick<Built, 'app' | 'mail'>) {
  // Created before: in a race, only the requests themselves must use the database.
  const authorization = `Bearer ${await adminToken(app)}`

  async function create(more: object = {}): Promise<{ id: string; email: string }> {
    const email = newAddress()
    const { id } = await adminCreatedUser(app, { email, email_confirm: true, password, ...more })
    return { id, email }
  }

  return {
    app,
    mail,
    create,

    asAdmin: (
      method: 'POST' | 'PUT' | 'DELETE',
      url: string,
      payload?: object,
    ): Promise<Response> =>
      app.inject({ method, url, headers: { authorization }, ...(payload && { payload }) }),

    /** A user with the password of every user here, signed in. */
    async createSignedIn(more: object = {}) {
      const user = await create(more)
      const response = await signIn(app, { email: user.email })
      assert.equal(response.statusCode, 200, response.body)
      return { ...user, ...response.json<Session>() }
    },

    /** Whether the tokens of a response are valid. */
    async opens(response: Response): Promise<boolean> {
      if (response.statusCode !== 200) return false
      const session = response.json<Session>()
      const seen = await getUser(app, session)
      const refreshed = await refresh(app, session.refresh_token)
      return seen.statusCode === 200 || refreshed.statusCode === 200
    },

    async signsIn(email: string, password: string): Promise<boolean> {
      return (await signIn(app, { email, password })).statusCode === 200
    },
  }
}
