/** (refresh, logout) and (ban, sign-in): what ended stays ended. */
import type { Session } from '../../schemas/session.ts'
import { password, signIn } from '../support/people.ts'
import {
  type Course,
  cameAfter,
  factsThatHold,
  type Pair,
  racesOf,
  statementOf,
} from '../support/races/pairs.ts'
import type { People } from '../support/races/people.ts'
import { suiteOfRaces } from '../support/races/suite.ts'
import { call, getUser, refresh } from '../support/requests.ts'

type Person = Session & { id: string; email: string }

/** A refresh, and something that ends the session. */
function ending(people: People, end: Pair<Person>['second']): Pair<Person> {
  const { app, createSignedIn, opens } = people
  return {
    invariant:
      'After a sign-out neither the old tokens nor those of a refresh meanwhile open anything.',
    prepare: () => createSignedIn(),
    first: ({ refresh_token }) => refresh(app, refresh_token),
    second: end,
    violations: async ({ refresh_token }, { first, second }) =>
      factsThatHold({
        'the sign-out was refused': second.statusCode !== 204,
        'the refreshed tokens open something': await opens(first),
        'the old refresh token is accepted': (await refresh(app, refresh_token)).statusCode === 200,
      }),
  }
}

const logout = (people: People, scope: string) =>
  ending(people, ({ access_token }) => signOut(people, scope, access_token))

const signOut = ({ app }: People, scope: string, token: string) =>
  call(app, `/logout?scope=${scope}`, undefined, { method: 'POST', token })

/** Signed out from another device, which itself stays signed in. */
function others(people: People): Pair<Person> {
  const { app, createSignedIn } = people
  const pair = logout(people, 'others')
  return {
    ...pair,
    async prepare() {
      const person = await createSignedIn()
      const other = (await signIn(app, person)).json<Session>()
      return { ...person, refresh_token: other.refresh_token }
    },
    async violations(stage, course) {
      const { statusCode } = await getUser(app, stage)
      const own = factsThatHold({ 'the device that asked is signed out': statusCode !== 200 })
      return [...own, ...(await pair.violations(stage, course))]
    },
  }
}

const ban = { ban_duration: '24h' }

function banned(people: People, first: Pair<Person>['first']): Pair<Person> {
  const { asAdmin, createSignedIn, opens, signsIn } = people
  return {
    invariant:
      'A ban lets nobody in: no session begins once it is committed, and none that began before opens anything.',
    prepare: () => createSignedIn(),
    first,
    second: ({ id }) => asAdmin('PUT', `/admin/users/${id}`, ban),
    violations: async ({ email }, course) =>
      factsThatHold({
        'the ban was refused': course.second.statusCode !== 200,
        'a session began after the ban': course.first.statusCode === 200 && beganAfter(course),
        'the session opens something': await opens(course.first),
        'the banned person signs in': await signsIn(email, password),
      }),
  }
}

function beganAfter(course: Course): boolean {
  const insert = statementOf(course, 'first', /insert into "auth"."sessions"/)
  const commit = statementOf(course, 'second', /^commit/)
  return insert !== undefined && commit !== undefined && insert.returned > commit.returned
}

const demoted = { role: 'authenticated' }
const touched = { user_metadata: { touched: true } }

/** Somebody with the role of an admin writes while the role is taken from them. */
function roleChange(people: People): Pair<Person & { other: string }> {
  const { app, asAdmin, create, createSignedIn } = people
  return {
    invariant:
      'Whoever is no admin any more opens no admin endpoint, and writes nothing that they asked for after that.',
    async prepare() {
      const person = await createSignedIn({ role: 'service_role' })
      return { ...person, other: (await create()).id }
    },
    first: ({ access_token, other }) =>
      call(app, `/admin/users/${other}`, touched, { method: 'PUT', token: access_token }),
    second: ({ id }) => asAdmin('PUT', `/admin/users/${id}`, demoted),
    async violations({ access_token }, course) {
      const { statusCode } = await call(app, '/admin/users', undefined, { token: access_token })
      return factsThatHold({
        'the change was refused': course.second.statusCode !== 200,
        'the demoted writes': course.first.statusCode === 200 && cameAfter(course, 'first'),
        'the demoted opens an admin endpoint': statusCode === 200,
      })
    },
  }
}

suiteOfRaces(
  'races for a session',
  {},
  {
    'a refresh and a sign-out everywhere': (people) => racesOf(logout(people, 'global'), 12),
    'a refresh and a sign-out of this device': (people) => racesOf(logout(people, 'local'), 12),
    'a refresh and a sign-out of the others': (people) => racesOf(others(people), 12),
    'a refresh and a sign-out by an admin': (people) =>
      racesOf(
        ending(people, ({ id }) => people.asAdmin('DELETE', `/admin/users/${id}/sessions`)),
        12,
      ),
    'a ban and a sign-in': (people) =>
      racesOf(
        banned(people, ({ email }) => signIn(people.app, { email })),
        12,
      ),
    'a ban and a refresh': (people) =>
      racesOf(
        banned(people, ({ refresh_token }) => refresh(people.app, refresh_token)),
        12,
      ),
    'a role change and a write of the admin it is taken from': (people) =>
      racesOf(roleChange(people), 12),
  },
)
