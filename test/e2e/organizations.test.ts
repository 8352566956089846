/** The journey of a small B2B product: an organization, its domain, invitations, single sign-on and its rows. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { suite, type TestContext, test } from 'node:test'

import { decodeJwt } from 'jose'
import type pg from 'pg'

import type { AccessToken } from '../../schemas/access-token.ts'
import type { Session } from '../../schemas/session.ts'
import { openClient } from '../support/database.ts'
import { nextEmail } from '../support/messages/mail-journeys.ts'
import { startDnsServer } from '../support/organizations/dns-server.ts'
import {
  adminOk,
  as,
  createOwner,
  ok,
  organizationsOn,
  refreshedClaims,
} from '../support/organizations/organizations.ts'
import { refresh } from '../support/requests.ts'
import { signedResponse } from '../support/saml/idp.ts'
import { addIdp, begin, type Known, post, samlOn } from '../support/saml/server.ts'
import { findMemberRole, findScimAccount, newClient, scimOn } from '../support/scim/clients.ts'
import { type App, build } from '../support/server.ts'
import { signedInAdminCreatedUser } from '../support/users.ts'

interface Domain {
  id: string
  dns_record: { name: string; value: string }
}

test('members join an organization by domain, invitation, SSO and SCIM, and row-level security applies', async (t) => {
  const { app, mail, dns, as: sql } = await product(t)
  const { owner, organization } = await createOwner(app, 'Acme')
  const path = `/organizations/${organization.id}`

  // The domain lets colleagues join by themselves.
  const domain = await ok<Domain>(app, owner, `POST ${path}/domains`, { domain: 'acme.example' })
  dns.publish(domain.dns_record.name, domain.dns_record.value)
  await ok(app, owner, `POST ${path}/domains/${domain.id}/verify`)
  await ok(app, owner, `PUT ${path}`, { joining: { domain: 'automatic' } })
  const colleague = await userWith(app, 'colleague@acme.example')
  assert.deepEqual(await listOrganizations(app, colleague), [[organization.id, 'member']])

  // A freelancer with an address of another domain is invited, with a role of the organization.
  const editor = { name: 'editor', permissions: ['todos:write'] }
  await ok(app, owner, `POST ${path}/roles`, editor)
  const email = 'freelancer@elsewhere.example'
  await ok(app, owner, `POST ${path}/invitations`, { email, role: 'editor' })
  const message = await nextEmail({ mail }, email)
  const link = /https?:\/\/\S+organization_invitation=\S+/.exec(message.mail.text ?? '')?.[0] ?? ''
  const token = new URLSearchParams(new URL(link).hash.slice(1)).get('organization_invitation')
  const freelancer = await userWith(app, email)
  await ok(app, freelancer, 'POST /organizations/invitations/accept', { token })

  // The IT department signs in by SAML, and a group makes its users admins.
  const idp = await addIdp(app, {
    attribute_mapping: { keys: { groups: { name: 'groups', array: true } } },
  })
  await adminOk(app, `POST /admin${path}/connections`, {
    name: 'Acme directory',
    sso_provider_id: idp.id,
    role_mapping: [{ attribute: 'groups', value: 'it', role: 'admin' }],
  })
  const employee = await ssoSignIn(app, idp, 'grace', ['it'])
  assert.deepEqual(await listOrganizations(app, employee), [[organization.id, 'admin']])

  // Their directory provisions a colleague at the same provider, who then signs in with it as the same user.
  const scim = await newClient(app, { sso_provider_id: idp.id, organization_id: organization.id })
  const provisioned = await scim.create({
    userName: 'heidi',
    emails: [{ value: 'heidi@acme.example', primary: true }],
  })
  const heidi = await ssoSignIn(app, idp, 'heidi', ['staff'])
  assert.equal(heidi.user.id, (await findScimAccount(app, provisioned.id)).user_id)
  assert.deepEqual(await listOrganizations(app, heidi), [[organization.id, 'member']])
  const claimsOfHeidi = await claimsAt(app, heidi, organization.id)

  // Each tenant sees its rows only.
  const { owner: rival, organization: other } = await createOwner(app, 'Globex')
  const atAcme = await claimsAt(app, freelancer, organization.id)
  const atGlobex = await claimsAt(app, rival, other.id)
  await sql(atAcme, "insert into example_todos (title) values ('buy anvils')")
  await sql(atGlobex, "insert into example_todos (title) values ('rent a lair')")
  const titles = async (claims: AccessToken) =>
    (await sql(claims, 'select title from example_todos')).rows.map(({ title }) => title)
  assert.deepEqual(await titles(atAcme), ['buy anvils'])
  assert.deepEqual(await titles(atGlobex), ['rent a lair'])
  assert.deepEqual(await titles(await claimsAt(app, employee, organization.id)), ['buy anvils'])
  assert.deepEqual(await titles(claimsOfHeidi), ['buy anvils'])

  // When she leaves the company, her sessions end and her memberships with them.
  const deactivation = { op: 'replace', path: 'active', value: false }
  const deactivated = await scim.patch(`/Users/${provisioned.id}`, deactivation)
  assert.equal(deactivated.statusCode, 200, deactivated.body)
  assert.equal((await refresh(app, heidi.refresh_token)).statusCode, 400)
  assert.deepEqual(await ssoRejection(app, idp, 'heidi'), 'user_deactivated')
  assert.deepEqual(await isMember(sql, claimsOfHeidi, organization.id), false)
  assert.equal((await scim.send('DELETE', `/Users/${provisioned.id}`)).statusCode, 204)
  assert.equal(await findMemberRole(app, organization.id, heidi.user.id), undefined)
  assert.deepEqual(await listOrganizations(app, employee), [[organization.id, 'admin']])
})

suite('policies of examples/organizations/todos.sql', () => {
  const permissions: Record<string, string[]> = {
    reader: ['organization:read'],
    writer: ['todos:write'],
    remover: ['todos:delete'],
  }
  const can: Record<string, string[]> = {
    owner: ['select', 'insert', 'update', 'delete'],
    reader: ['select'],
    writer: ['select', 'insert', 'update'],
    remover: ['select', 'delete'],
  }

  test('allow each role the actions of its permissions on the rows of its own organization', async (t) => {
    const { app, as: sql } = await product(t)
    const tenants = [await tenant(app, 'First'), await tenant(app, 'Second')]
    const wrong: string[] = []
    let checked = 0
    for (const own of tenants) {
      for (const [role, claims] of Object.entries(own.claims)) {
        for (const target of tenants) {
          for (const act of ['select', 'insert', 'update', 'delete']) {
            const rows = await attempt(sql, claims, act, target.id)
            const may = own === target && can[role]?.includes(act)
            const expected = may ? 1 : 0
            if (rows !== expected) {
              wrong.push(`${own.name} ${role} ${act} ${target.name}: ${rows}`)
            }
            checked++
          }
        }
      }
    }
    assert.deepEqual(wrong, [])
    assert.equal(checked, 2 * 4 * 2 * 4)
  })

  test('call the functions once for each statement', async (t) => {
    const { app, as: sql, client } = await product(t)
    const { id, claims } = await tenant(app, 'Many')
    await client.query(
      `insert into example_todos (organization_id, title, created_by)
        select '${id}', 'todo ' || n, '${id}' from generate_series(1, 2000) as n`,
    )
    await client.query('analyze example_todos')
    const owner = claims.owner ?? assert.fail()
    const { rows } = await sql(owner, 'explain (costs off) select * from example_todos')
    const plan = rows.map((row) => Object.values(row)[0]).join('\n')
    assert.match(plan, /InitPlan 1/)
    assert.match(plan, /organization_id = \(InitPlan 1\)\.col1|organization_id = \$0/)
    assert.doesNotMatch(plan, /org_id\(\).*Filter/)
  })

  test('read the current membership when they call is_member', async (t) => {
    const { app, as: sql, client } = await product(t)
    const { id, claims } = await tenant(app, 'Live')
    const { remover } = claims
    assert.ok(remover)
    assert.equal(await attempt(sql, remover, 'delete', id), 1)
    await client.query(
      `delete from auth.postern_organization_members where user_id = '${remover.sub}'`,
    )
    assert.equal(await attempt(sql, remover, 'delete', id), 0)
    assert.equal(
      await attempt(sql, remover, 'select', id),
      1,
      'the claims are valid until they expire',
    )
  })

  /** An organization with a user for each role and their tokens. */
  async function tenant(app: App, name: string) {
    const { owner, organization } = await createOwner(app, name)
    const { id } = organization
    const claims: Record<string, AccessToken> = { owner: await claimsAt(app, owner, id) }
    for (const [role, granted] of Object.entries(permissions)) {
      const body = { name: role, permissions: granted }
      await ok(app, owner, `POST /organizations/${id}/roles`, body)
      const user = await userWith(app, `${role}-${crypto.randomUUID()}@example.com`)
      const member = { user_id: user.user.id, role }
      await adminOk(app, `POST /admin/organizations/${id}/members`, member)
      claims[role] = await claimsAt(app, user, id)
    }
    return { name, id, claims }
  }
})

type Sql = Awaited<ReturnType<typeof product>>['as']

/** How many rows of an organization a statement reaches; the rows are the same before each. */
async function attempt(sql: Sql, claims: AccessToken, act: string, id: string): Promise<number> {
  const statements: Record<string, string> = {
    select: `select id from example_todos where organization_id = '${id}'`,
    insert: `insert into example_todos (organization_id, title) values ('${id}', 'new')`,
    update: `update example_todos set done = true where organization_id = '${id}'`,
    delete: `delete from example_todos where organization_id = '${id}'`,
  }
  try {
    return (await sql(claims, statements[act] ?? '', id)).rowCount ?? 0
  } catch (error) {
    assert.match(String(error), /row-level security/)
    return 0
  }
}

async function product(t: TestContext) {
  const dns = await startDnsServer(t)
  const AUTH_ORGANIZATIONS_DNS_SERVERS = dns.server
  const { app, mail, database } = await build(t, {
    env: { ...organizationsOn, ...samlOn, ...scimOn, AUTH_ORGANIZATIONS_DNS_SERVERS },
  })
  const client = await openClient(t, database.url)
  const file = new URL('../../examples/organizations/todos.sql', import.meta.url)
  await client.query(await readFile(file, 'utf8'))

  /** Runs a statement as a database REST layer does. With an organization, its one row is there and nothing is kept. */
  async function run(claims: AccessToken, text: string, only?: string): Promise<pg.QueryResult> {
    await client.query('begin')
    try {
      if (only) {
        await client.query('delete from example_todos')
        await client.query(
          `insert into example_todos (organization_id, title, created_by) values ('${only}', 'row', '${only}')`,
        )
      }
      await client.query("select set_config('role', 'authenticated', true)")
      await client.query("select set_config('request.jwt.claims', $1, true)", [
        JSON.stringify(claims),
      ])
      const result = await client.query(text)
      await client.query(only ? 'rollback' : 'commit')
      return result
    } catch (error) {
      await client.query('rollback')
      throw error
    }
  }
  return { app, mail, dns, client, as: run }
}

async function userWith(app: App, email: string): Promise<Session> {
  return (await signedInAdminCreatedUser(app, email)).session
}

async function listOrganizations(app: App, session: Session) {
  interface List {
    organizations: { id: string; role: string }[]
  }
  const { organizations } = await ok<List>(app, session, 'GET /organizations')
  return organizations.map(({ id, role }) => [id, role])
}

async function claimsAt(app: App, user: Session, id: string): Promise<AccessToken> {
  const { claims, session } = await refreshedClaims(app, user, id)
  Object.assign(user, session)
  return claims
}

async function isMember(sql: Sql, claims: AccessToken, id: string): Promise<unknown> {
  const { rows } = await sql(claims, `select auth.is_member('${id}') as value`)
  return rows[0]?.value
}

async function ssoRejection(app: App, idp: Known, nameId: string): Promise<string | undefined> {
  const { fragment, query } = await ssoResponse(app, idp, nameId, [])
  return fragment.error_code ?? query.error_code
}

async function ssoResponse(app: App, { idp, id }: Known, nameId: string, groups: string[]) {
  const { relayState, requestId } = await begin(app, { provider_id: id })
  const attributes = { mail: [`${nameId}@acme.example`], groups }
  const xml = signedResponse({ idp, requestId, nameId, attributes })
  return post(app, xml, relayState)
}

async function ssoSignIn(app: App, idp: Known, nameId: string, groups: string[]) {
  const { fragment } = await ssoResponse(app, idp, nameId, groups)
  const { access_token = '', refresh_token = '' } = fragment
  assert.equal(decodeJwt(access_token).email, `${nameId}@acme.example`)
  const user = (await as(app, { access_token } as Session, 'GET /user')).json()
  return { access_token, refresh_token, user } as Session
}
