/** Concurrent changes of members: an organization keeps an owner, and removed members keep no access. */
import { createHash } from 'node:crypto'

import { decodeJwt } from 'jose'

import type { Session } from '../../schemas/session.ts'
import { organizationsOn } from '../support/organizations/organizations.ts'
import { type Pair, runRaces, trueFacts } from '../support/races/pairs.ts'
import { suiteOfRaces } from '../support/races/suite.ts'
import type { Users } from '../support/races/users.ts'
import { call, refresh } from '../support/requests.ts'
import type { App } from '../support/server.ts'

const rounds = 8

type User = Session & { id: string; email: string }
type Roles = Record<string, 'owner' | 'admin' | 'member'>

/** The same users in every round: only the organization is new. */
function usersOnce({ createSignedIn }: Users) {
  let made: Promise<[User, User]> | undefined
  return () => {
    made ??= Promise.all([createSignedIn(), createSignedIn()])
    return made
  }
}

async function organizationWith({ db }: App, roles: Roles): Promise<string> {
  const now = new Date()
  const times = { created_at: now, updated_at: now }
  const id = crypto.randomUUID()
  const row = { id, slug: id, name: 'Race', metadata: '{}', created_by: null, deleted_at: null }
  await db
    .insertInto('postern_organizations')
    .values({ ...row, ...times })
    .execute()
  const of = { organization_id: id, joined_by: 'admin' as const, connection_id: null }
  const members = Object.entries(roles).map(([user_id, role]) => ({
    user_id,
    role,
    ...of,
    ...times,
  }))
  await db.insertInto('postern_organization_members').values(members).execute()
  return id
}

async function rolesIn({ db }: App, organizationId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('postern_organization_members')
    .select('role')
    .where('organization_id', '=', organizationId)
    .execute()
  return rows.map(({ role }) => role)
}

interface TwoOwners {
  id: string
  one: User
  other: User
}

/** Both owners act on each other. */
function twoOwners(
  { app, ...users }: Users,
  act: (stage: TwoOwners, by: User, on: User) => ReturnType<typeof call>,
) {
  const getPair = usersOnce({ app, ...users })
  const pair: Pair<TwoOwners> = {
    invariant: 'An organization has an owner, and one of two who remove each other is rejected.',
    async prepare() {
      const [one, other] = await getPair()
      const id = await organizationWith(app, { [one.id]: 'owner', [other.id]: 'owner' })
      return { id, one, other }
    },
    first: (stage) => act(stage, stage.one, stage.other),
    second: (stage) => act(stage, stage.other, stage.one),
    async violations({ id }, { first, second }) {
      const owners = (await rolesIn(app, id)).filter((role) => role === 'owner').length
      return trueFacts({
        [`there are ${owners} owners`]: owners !== 1,
        'both succeeded': first.statusCode < 300 && second.statusCode < 300,
        'both were rejected': first.statusCode >= 400 && second.statusCode >= 400,
      })
    },
  }
  return runRaces(pair, rounds)
}

const member = (id: string, userId: string) => `/organizations/${id}/members/${userId}`

const demotions = (users: Users) =>
  twoOwners(users, ({ id }, by, on) =>
    call(
      users.app,
      member(id, on.id),
      { role: 'member' },
      { method: 'PUT', token: by.access_token },
    ),
  )

const departures = (users: Users) =>
  twoOwners(users, ({ id }, by) =>
    call(users.app, `/organizations/${id}/leave`, undefined, {
      method: 'POST',
      token: by.access_token,
    }),
  )

interface Invited {
  id: string
  owner: User
  invited: User
  invitationId: string
  token: string
}

function acceptAndRevoke(users: Users) {
  const { app } = users
  const getPair = usersOnce(users)
  const pair: Pair<Invited> = {
    invariant: 'An invitation is either accepted or revoked, and never both.',
    async prepare() {
      const [owner, invited] = await getPair()
      const id = await organizationWith(app, { [owner.id]: 'owner' })
      const token = crypto.randomUUID()
      const now = new Date()
      const invitation = {
        id: crypto.randomUUID(),
        organization_id: id,
        email: invited.email,
        role: 'member',
        token_hash: createHash('sha256').update(token).digest('base64url'),
        invited_by: owner.id,
        created_at: now,
        expires_at: new Date(now.getTime() + 3_600_000),
      }
      await app.db.insertInto('postern_organization_invitations').values(invitation).execute()
      return { id, owner, invited, invitationId: invitation.id, token }
    },
    first: ({ invited, token }) =>
      call(app, '/organizations/invitations/accept', { token }, { token: invited.access_token }),
    second: ({ id, owner, invitationId }) =>
      call(app, `/organizations/${id}/invitations/${invitationId}`, undefined, {
        method: 'DELETE',
        token: owner.access_token,
      }),
    async violations({ id }, { first, second }) {
      const isMember = (await rolesIn(app, id)).includes('member')
      const [accepted, revoked] = [first.statusCode === 200, second.statusCode === 204]
      return trueFacts({
        'both succeeded': accepted && revoked,
        'neither succeeded': !accepted && !revoked,
        'the user is a member by a revoked invitation': revoked && isMember,
        'the user who accepted is no member': accepted && !isMember,
      })
    },
  }
  return runRaces(pair, rounds)
}

interface Switching {
  id: string
  owner: User
  member: User
}

function switchAndRemoval(users: Users) {
  const { app } = users
  const getPair = usersOnce(users)
  let refreshToken = ''
  const pair: Pair<Switching> = {
    invariant: 'No session of a removed member has the organization.',
    async prepare() {
      const [owner, member] = await getPair()
      refreshToken ||= member.refresh_token
      const id = await organizationWith(app, { [owner.id]: 'owner', [member.id]: 'member' })
      return { id, owner, member }
    },
    first: ({ id, member }) =>
      call(
        app,
        '/user/sessions/current',
        { organization_id: id },
        {
          method: 'PUT',
          token: member.access_token,
        },
      ),
    second: ({ id, owner, member: { id: userId } }) =>
      call(app, member(id, userId), undefined, { method: 'DELETE', token: owner.access_token }),
    async violations({ id }, { first, second }) {
      const session: Session = (await refresh(app, refreshToken)).json()
      refreshToken = session.refresh_token
      const { org_id } = decodeJwt<{ org_id?: string }>(session.access_token)
      return trueFacts({
        [`the removal returned ${second.statusCode}`]: second.statusCode !== 204,
        [`the switch returned ${first.statusCode}`]: ![200, 404].includes(first.statusCode),
        'the token names the organization': org_id === id,
      })
    },
  }
  return runRaces(pair, rounds)
}

suiteOfRaces('races of organization members: permissions match the responses', organizationsOn, {
  'two demotions of the last two owners': demotions,
  'two departures of the last two owners': departures,
  'accept and revoke of one invitation': acceptAndRevoke,
  'a switch and a removal': switchAndRemoval,
})
