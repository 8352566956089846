/** An organization with a user of each role and an object of each kind. */
import type { Session } from '../../../schemas/session.ts'
import { insertGroup } from '../../support/organizations/groups.ts'
import {
  adminOk,
  createMember,
  createOwner,
  ok,
} from '../../support/organizations/organizations.ts'
import type { App } from '../../support/server.ts'
import { newAddress } from '../../support/users.ts'
import type { Ids } from './endpoints.ts'

export interface Tenant {
  name: string
  id: string
  users: Record<'owner' | 'admin' | 'member' | 'auditor' | 'suspended', Session>
  ids: Ids
}

export async function tenant(
  app: App,
  name: string,
  permissions: readonly string[],
): Promise<Tenant> {
  const { owner, organization } = await createOwner(app, name)
  const { id } = organization
  const post = <T>(path: string, body: object) =>
    ok<T>(app, owner, `POST /organizations/${id}/${path}`, body)
  await post('roles', { name: 'auditor', permissions })
  await post('roles', { name: `only-${name}`, permissions })
  const users = {
    owner,
    admin: await createMember(app, organization, 'admin'),
    member: await createMember(app, organization),
    auditor: await createMember(app, organization, 'auditor'),
    suspended: await createMember(app, organization, 'admin'),
  }
  await app.db
    .updateTable('postern_organization_members')
    .set({ status: 'suspended' })
    .where('user_id', '=', users.suspended.user.id)
    .execute()
  const invitation = await post<{ id: string }>('invitations', { email: newAddress() })
  const domain = await post<{ id: string }>('domains', { domain: `${name}.example.com` })
  const connection = await adminOk<{ id: string }>(
    app,
    `POST /admin/organizations/${id}/connections`,
    { name: 'Directory' },
  )
  const groupId = await insertGroup(app, id, { name: 'Engineering', role: 'member' })
  const ids = {
    user_id: users.member.user.id,
    invitation_id: invitation.id,
    role: `only-${name}`,
    domain_id: domain.id,
    connection_id: connection.id,
    group_id: groupId,
  }
  return { name, id, users, ids }
}

const tables = [
  'postern_organization_members',
  'postern_organization_invitations',
  'postern_organization_roles',
  'postern_organization_domains',
  'postern_organization_connections',
  'postern_organization_audit_entries',
  'postern_scim_connections',
] as const

/** Everything that is stored of an organization. */
export async function readOrganizationRows({ db }: App, id: string): Promise<string> {
  const own = await db
    .selectFrom('postern_organizations')
    .selectAll()
    .where('id', '=', id)
    .execute()
  const rows = await Promise.all(
    tables.map((table) =>
      db.selectFrom(table).selectAll().where('organization_id', '=', id).execute(),
    ),
  )
  return JSON.stringify([own, ...rows].map((list) => list.map((row) => JSON.stringify(row)).sort()))
}
