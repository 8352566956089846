import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { asAdmin } from '../../support/admin.ts'
import { lockUserRow } from '../../support/locked-user.ts'
import { createMember } from '../../support/organizations/organizations.ts'
import { statusAndCode } from '../../support/requests.ts'
import {
  findMemberRole,
  findScimAccount,
  type ScimClient,
  scimError,
  scimServer,
  sharedScimServer,
} from '../../support/scim/clients.ts'
import type { App } from '../../support/server.ts'

interface Group extends Record<string, unknown> {
  id: string
  members?: { value: string }[]
}

async function twoUsers(client: ScimClient): Promise<[string, string]> {
  const [ann, bert] = [
    await client.create({ userName: 'ann' }),
    await client.create({ userName: 'bert' }),
  ]
  return [ann.id, bert.id]
}

const listMembers = async (client: ScimClient, id: string) => {
  const { members = [] } = await client.request<Group>('GET', `/Groups/${id}`)
  return members.map(({ value }) => value).toSorted()
}

suite('SCIM groups', () => {
  const newTenant = sharedScimServer()

  test('list their members, and users list their groups', async () => {
    const { client } = await newTenant()
    const [ann, bert] = await twoUsers(client)
    const { id } = await client.createGroup('Staff', [ann, bert])
    assert.deepEqual(await listMembers(client, id), [ann, bert].toSorted())
    const user = await client.request('GET', `/Users/${ann}`)
    const $ref = `${client.connection.base_url}/Groups/${id}`
    assert.deepEqual(user.groups, [{ value: id, $ref, display: 'Staff', type: 'direct' }])
  })

  const changes: [
    what: string,
    operation: (ann: string, bert: string) => object,
    left: 'ann' | 'bert' | 'both' | 'none',
  ][] = [
    ['a value path', (ann) => ({ op: 'remove', path: `members[value eq "${ann}"]` }), 'bert'],
    [
      'a removal with values, as Entra ID sends it',
      (ann) => ({ op: 'Remove', path: 'members', value: [{ value: ann }] }),
      'bert',
    ],
    ['a removal of all', () => ({ op: 'remove', path: 'members' }), 'none'],
    [
      'a replacement, as Okta sends it',
      (ann) => ({ op: 'replace', path: 'members', value: [{ value: ann, display: 'ann' }] }),
      'ann',
    ],
    [
      'a replacement without a path',
      (ann) => ({ op: 'replace', value: { members: [{ value: ann }] } }),
      'ann',
    ],
    [
      'an addition of a member',
      (ann) => ({ op: 'add', path: 'members', value: [{ value: ann }] }),
      'both',
    ],
  ]
  for (const [what, operation, left] of changes) {
    test(`are changed by ${what}, also when repeated`, async () => {
      const { client } = await newTenant()
      const [ann, bert] = await twoUsers(client)
      const { id } = await client.createGroup('Staff', [ann, bert])
      for (let i = 0; i < 2; i += 1) {
        const response = await client.patch(`/Groups/${id}`, operation(ann, bert))
        assert.equal(response.statusCode, 200, response.body)
      }
      const expected = { ann: [ann], bert: [bert], both: [ann, bert].toSorted(), none: [] }[left]
      assert.deepEqual(await listMembers(client, id), expected)
    })
  }

  test('are renamed without losing members', async () => {
    const { client } = await newTenant()
    const [ann] = await twoUsers(client)
    const { id } = await client.createGroup('Staff', [ann])
    const operation = { op: 'replace', value: { id, displayName: 'Team' } }
    const response = await client.patch(`/Groups/${id}`, operation)
    assert.equal(response.json().displayName, 'Team')
    assert.deepEqual(await listMembers(client, id), [ann])
  })

  test('are replaced with their members', async () => {
    const { client } = await newTenant()
    const [ann, bert] = await twoUsers(client)
    const { id } = await client.createGroup('Staff', [ann])
    await client.request('PUT', `/Groups/${id}`, {
      displayName: 'Staff',
      members: [{ value: bert }],
    })
    assert.deepEqual(await listMembers(client, id), [bert])
  })

  test('reject a displayName that is taken', async () => {
    const { client } = await newTenant()
    await client.createGroup('Staff')
    const taken = await client.send('POST', '/Groups', { displayName: 'STAFF' })
    assert.deepEqual(scimError(taken), [409, 'uniqueness'])
    assert.match(taken.json().detail, /displayName/)
  })

  test('reject a member without a value', async () => {
    const { client } = await newTenant()
    for (const member of [{ display: 'ann' }, 7, { value: { id: 'x' } }]) {
      const body = { displayName: 'Team', members: [member] }
      assert.deepEqual(scimError(await client.send('POST', '/Groups', body)), [400, 'invalidValue'])
    }
  })

  test('leave out members that are unknown, with a line in the log', async (t) => {
    const lines: string[] = []
    const { client } = await scimServer(t, { lines })
    const [ann, bert] = await twoUsers(client)
    const deleted = await client.create({ userName: 'carl' })
    await client.send('DELETE', `/Users/${deleted.id}`)
    const unknown = [deleted.id, crypto.randomUUID(), 'u1091']
    const { id } = await client.createGroup('Staff', [ann, ...unknown])
    assert.deepEqual(await listMembers(client, id), [ann])
    const value = [bert, ...unknown].map((each) => ({ value: each }))
    const changed = await client.patch(`/Groups/${id}`, { op: 'add', path: 'members', value })
    assert.equal(changed.statusCode, 200, changed.body)
    assert.deepEqual(await listMembers(client, id), [ann, bert].toSorted())
    await client.request('PUT', `/Groups/${id}`, { displayName: 'Staff', members: value })
    assert.deepEqual(await listMembers(client, id), [bert])
    const removal = { op: 'remove', path: 'members', value: [{ value: 'u1091' }] }
    assert.equal((await client.patch(`/Groups/${id}`, removal)).statusCode, 200)
    const warnings = lines
      .filter((line) => line.includes('unknown members'))
      .map((line) => JSON.parse(line))
    assert.deepEqual(
      warnings.map((line) => [line.group_id, line.unknown_members.toSorted(), line.unknown_count]),
      Array.from({ length: 3 }, () => [id, unknown.toSorted(), 3]),
    )
  })

  test('are shown without members on request, and found by filters', async () => {
    const { client } = await newTenant()
    const [ann] = await twoUsers(client)
    const { id } = await client.createGroup('Staff', [ann])
    await client.createGroup('Team')
    for (const filter of [
      'displayName eq "staff"',
      `members.value eq "${ann}"`,
      `members[value eq "${ann}"]`,
    ]) {
      const path = `/Groups?excludedAttributes=members&filter=${encodeURIComponent(filter)}`
      const { Resources } = await client.request<{ Resources: Group[] }>('GET', path)
      assert.deepEqual(
        Resources.map((group) => [group.id, group.members]),
        [[id, undefined]],
        filter,
      )
    }
  })

  test('lose a deleted user, who is no longer a member when created again', async () => {
    const { client } = await newTenant()
    const [ann, bert] = await twoUsers(client)
    const { id } = await client.createGroup('Staff', [ann, bert])
    await client.send('DELETE', `/Users/${ann}`)
    assert.equal((await client.create({ userName: 'ann' })).id, ann)
    assert.deepEqual(await listMembers(client, id), [bert])
  })
})

suite('roles by SCIM groups', () => {
  const newTenant = sharedScimServer()

  async function mapped(app: App, client: ScimClient) {
    const role_mapping = [
      { group: 'Owners', role: 'owner' },
      { group: 'ADMINS', role: 'admin' },
    ]
    const url = `/admin/scim/connections/${client.connection.id}`
    assert.equal((await asAdmin(app, 'PUT', url, { role_mapping })).statusCode, 200)
  }

  test('are chosen from the groups of a user by the order of the mapping', async () => {
    const { app, client, organization } = await newTenant()
    await mapped(app, client)
    const [ann, bert] = await twoUsers(client)
    const [{ user_id: a }, { user_id: b }] = [
      await findScimAccount(app, ann),
      await findScimAccount(app, bert),
    ]
    const role = (id: string | null) => findMemberRole(app, organization, id ?? '')
    const admins = await client.createGroup('Admins', [ann, bert])
    assert.deepEqual([await role(a), await role(b)], ['admin active scim', 'admin active scim'])
    const owners = await client.createGroup('owners', [ann, bert])
    assert.equal(await role(a), 'owner active scim')
    await client.patch(`/Groups/${owners.id}`, { op: 'remove', path: `members[value eq "${ann}"]` })
    assert.equal(await role(a), 'admin active scim')
    await client.patch(`/Groups/${admins.id}`, {
      op: 'replace',
      path: 'displayName',
      value: 'Others',
    })
    assert.deepEqual([await role(a), await role(b)], ['member active scim', 'owner active scim'])
  })

  test('are removed when a user leaves two groups at the same time', async () => {
    const { app, client, organization } = await newTenant()
    await mapped(app, client)
    const [ann, bert] = await twoUsers(client)
    const admins = await client.createGroup('Admins', [ann])
    const owners = await client.createGroup('Owners', [ann, bert])
    const { user_id } = await findScimAccount(app, ann)
    const lock = await lockUserRow(app, user_id ?? '')
    const leave = ({ id }: Group) =>
      client.patch(`/Groups/${id}`, { op: 'remove', path: `members[value eq "${ann}"]` })
    const first = await lock.queue(1, () => leave(owners))
    const second = await lock.queue(2, () => leave(admins))
    await lock.release()
    const statuses = (await Promise.all([first.response, second.response])).map(
      ({ statusCode }) => statusCode,
    )
    assert.deepEqual(statuses, [200, 200])
    assert.equal(await findMemberRole(app, organization, user_id ?? ''), 'member active scim')
  })

  test('cannot be deleted while the mapping or the default uses them', async () => {
    const { app, client, organization } = await newTenant()
    const roles = `/admin/organizations/${organization}/roles`
    for (const name of ['mapped', 'preset']) {
      const made = await asAdmin(app, 'POST', roles, { name, permissions: ['todos:write'] })
      assert.equal(made.statusCode, 201, made.body)
    }
    const url = `/admin/scim/connections/${client.connection.id}`
    const role_mapping = [{ group: 'Editors', role: 'mapped' }]
    await asAdmin(app, 'PUT', url, { default_role: 'preset', role_mapping })
    for (const name of ['mapped', 'preset']) {
      const removal = await asAdmin(app, 'DELETE', `${roles}/${name}`)
      assert.deepEqual(statusAndCode(removal), [409, 'organization_role_in_use'], name)
    }
    await asAdmin(app, 'PUT', url, { default_role: 'member', role_mapping: [] })
    assert.equal((await asAdmin(app, 'DELETE', `${roles}/mapped`)).statusCode, 204)
  })

  test('are listed and changed by members with groups:write', async () => {
    const { app, client, organization } = await newTenant()
    await mapped(app, client)
    const admins = await client.createGroup('Admins')
    const staff = await client.createGroup('Staff')
    const url = `/admin/organizations/${organization}/groups`
    const listed = async () => {
      const { groups } = (await asAdmin(app, 'GET', url)).json()
      return groups.map(({ name, role, priority }: Record<string, unknown>) => [
        name,
        role,
        priority,
      ])
    }
    assert.deepEqual(await listed(), [
      ['Admins', 'admin', 1],
      ['Staff', null, null],
    ])
    const changed = await asAdmin(app, 'PUT', `${url}/${staff.id}`, { role: 'auditor' })
    assert.deepEqual(statusAndCode(changed), [422, 'organization_role_not_found'])
    const first = await asAdmin(app, 'PUT', `${url}/${staff.id}`, { role: 'admin' })
    assert.deepEqual([first.json().role, first.json().priority], ['admin', 2])
    assert.equal((await asAdmin(app, 'PUT', `${url}/${admins.id}`, { role: '' })).statusCode, 200)
    const [ann, bert] = await twoUsers(client)
    await client.patch(`/Groups/${staff.id}`, {
      op: 'add',
      path: 'members',
      value: [{ value: ann }],
    })
    await client.patch(`/Groups/${admins.id}`, {
      op: 'add',
      path: 'members',
      value: [{ value: bert }],
    })
    const roles = await Promise.all(
      [ann, bert].map(async (id) =>
        findMemberRole(app, organization, (await findScimAccount(app, id)).user_id ?? ''),
      ),
    )
    assert.deepEqual(roles, ['admin active scim', 'member active scim'])
    assert.deepEqual(
      statusAndCode(await asAdmin(app, 'PUT', `${url}/${admins.id}`, { priority: 3 })),
      [400, 'validation_failed'],
    )
  })

  test('cannot be changed by a member with a lower role', async () => {
    const { app, client, organization } = await newTenant({ AUTH_MAILER_AUTOCONFIRM: 'true' })
    await mapped(app, client)
    const { id } = await client.createGroup('Owners')
    const { access_token: token } = await createMember(app, { id: organization }, 'admin')
    const url = `/organizations/${organization}/groups/${id}`
    for (const role of ['', 'member', 'owner']) {
      const response = await app.inject({
        method: 'PUT',
        url,
        headers: { authorization: `Bearer ${token}` },
        payload: { role },
      })
      assert.deepEqual(statusAndCode(response), [403, 'organization_role_too_high'], role)
    }
  })

  test('keep their order and existence before a mapping to more permissions than the caller has', async () => {
    const { app, client, organization } = await newTenant({ AUTH_MAILER_AUTOCONFIRM: 'true' })
    const url = `/admin/scim/connections/${client.connection.id}`
    const role_mapping = [
      { group: 'Trainees', role: 'member' },
      { group: 'Owners', role: 'owner' },
      { group: 'Staff', role: 'member' },
    ]
    assert.equal((await asAdmin(app, 'PUT', url, { role_mapping })).statusCode, 200)
    const { access_token: token } = await createMember(app, { id: organization }, 'admin')
    const set = async (name: string, payload: object) => {
      const { groups } = (
        await asAdmin(app, 'GET', `/admin/organizations/${organization}/groups`)
      ).json()
      const { id } = groups.find((group: { name: string }) => group.name === name)
      return app.inject({
        method: 'PUT',
        url: `/organizations/${organization}/groups/${id}`,
        headers: { authorization: `Bearer ${token}` },
        payload,
      })
    }
    for (const name of ['Trainees', 'Owners', 'Staff', 'Everyone']) await client.createGroup(name)
    const rejected: [name: string, change: object][] = [
      // Members of both groups would become owners.
      ['Trainees', { role: '' }],
      ['Trainees', { priority: 9 }],
      // Owners who are in both groups would lose the role.
      ['Staff', { priority: 0 }],
      ['Everyone', { role: 'member', priority: 0 }],
    ]
    for (const [name, change] of rejected) {
      const response = await set(name, change)
      assert.deepEqual(statusAndCode(response), [403, 'organization_role_too_high'], name)
    }
    const permitted: typeof rejected = [
      ['Trainees', { role: 'admin' }],
      ['Everyone', { role: 'member' }],
      ['Everyone', { priority: 2 }],
      ['Staff', { role: '' }],
    ]
    for (const [name, change] of permitted) {
      assert.equal((await set(name, change)).statusCode, 200, name)
    }
  })

  test('never demote the last owner', async () => {
    const { app, client, organization } = await newTenant()
    await mapped(app, client)
    const [ann] = await twoUsers(client)
    const { user_id } = await findScimAccount(app, ann)
    const { id } = await client.createGroup('Owners', [ann])
    assert.deepEqual(scimError(await client.send('DELETE', `/Groups/${id}`)), [409, 'mutability'])
    assert.equal(await findMemberRole(app, organization, user_id ?? ''), 'owner active scim')
    assert.deepEqual(await listMembers(client, id), [ann])
  })
})
