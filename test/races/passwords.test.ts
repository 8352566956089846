/** (sign-in, password change): sessions created by the old password are revoked. */
import { hash as bcrypt } from '@node-rs/bcrypt'

import { type Pair, runRaces, trueFacts } from '../support/races/pairs.ts'
import { suiteOfRaces } from '../support/races/suite.ts'
import { newPassword, type Users } from '../support/races/users.ts'
import { changeUser } from '../support/requests.ts'
import { password, signIn } from '../support/users.ts'

interface Stage {
  id: string
  email: string
  access_token: string
}

const invariant =
  'After a password change only the new password signs in, and no session opened by the old one is valid.'

function pair({ app, createSignedIn, opens, signsIn }: Users): Pair<Stage> {
  return {
    invariant,
    prepare: () => createSignedIn(),
    first: ({ email }) => signIn(app, { email }),
    second: ({ access_token }) => changeUser(app, access_token, { password: newPassword }),
    violations: async ({ email }, { first, second }) =>
      trueFacts({
        'the change was rejected': second.statusCode !== 200,
        'a session of the old password is valid': await opens(first),
        'the old password signs in': await signsIn(email, password),
        'the new password does not sign in': !(await signsIn(email, newPassword)),
      }),
  }
}

function byAdmin(users: Users): Pair<Stage> {
  const body = { password: newPassword }
  return {
    ...pair(users),
    second: ({ id }) => users.asAdmin('PUT', `/admin/users/${id}`, body),
  }
}

/** The hash was imported, so that the sign-in writes the row as well. */
function imported(users: Users): Pair<Stage> {
  return {
    ...byAdmin(users),
    async prepare() {
      const password_hash = await bcrypt(password, 4)
      const user = await users.create({ password: undefined, password_hash })
      return { ...user, access_token: '' }
    },
  }
}

suiteOfRaces(
  'races for a password: only the current password signs in',
  {},
  {
    'a sign-in and a password change': (users) => runRaces(pair(users), 8),
    'a sign-in and a password change by an admin': (users) => runRaces(byAdmin(users), 8),
    'a sign-in that rehashes an imported hash, and a password change': (users) =>
      runRaces(imported(users), 8),
  },
)
