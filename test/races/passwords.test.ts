/** (sign-in, password change): what the old password opens does not outlive it. */
import { hash as bcrypt } from '@node-rs/bcrypt'

import { password, signIn } from '../support/people.ts'
import { factsThatHold, type Pair, racesOf } from '../support/races/pairs.ts'
import { newPassword, type People } from '../support/races/people.ts'
import { suiteOfRaces } from '../support/races/suite.ts'
import { changeUser } from '../support/requests.ts'

interface Stage {
  id: string
  email: string
  access_token: string
}

const invariant =
  'After a password change the old password opens nothing, the new one does, and no session that the old one opened meanwhile lives.'

function pair({ app, createSignedIn, opens, signsIn }: People): Pair<Stage> {
  return {
    invariant,
    prepare: () => createSignedIn(),
    first: ({ email }) => signIn(app, { email }),
    second: ({ access_token }) => changeUser(app, access_token, { password: newPassword }),
    violations: async ({ email }, { first, second }) =>
      factsThatHold({
        'the change was refused': second.statusCode !== 200,
        'a session of the old password lives': await opens(first),
        'the old password opens a session': await signsIn(email, password),
        'the new password opens none': !(await signsIn(email, newPassword)),
      }),
  }
}

function byAdmin(people: People): Pair<Stage> {
  const body = { password: newPassword }
  return {
    ...pair(people),
    second: ({ id }) => people.asAdmin('PUT', `/admin/users/${id}`, body),
  }
}

/** The hash came from elsewhere, so that the sign-in writes the row as well. */
function imported(people: People): Pair<Stage> {
  return {
    ...byAdmin(people),
    async prepare() {
      const password_hash = await bcrypt(password, 4)
      const person = await people.create({ password: undefined, password_hash })
      return { ...person, access_token: '' }
    },
  }
}

suiteOfRaces(
  'races for a password',
  {},
  {
    'a sign-in and a change of the password': (people) => racesOf(pair(people), 12),
    'a sign-in and a change by an admin': (people) => racesOf(byAdmin(people), 12),
    'a sign-in that renews an imported hash, and a change': (people) =>
      racesOf(imported(people), 12),
  },
)
