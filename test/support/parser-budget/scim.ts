/** SCIM requests of a tenant's client. */
import { patchSchema, type ScimClient, userSchema } from '../scim/clients.ts'
import type { App } from '../server.ts'
import { fill, type Load, largeBytes, smallBytes } from './load.ts'

const elements = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ value: `v${at}`, type: 'work' }))

const values = (count: number) => elements(count).map(({ value }) => `none ${value}`)

/** Not found, so that the user stays as it is for the next load. */
const rejected = { op: 'replace', path: 'roles[value co "none"].display', value: 'x' }

/** At most as many as a filter may have. */
const terms = (count: number) => Array(count).fill('value co "zz"').join(' or ')

/** Operations on a user with 500 values and on a group with 500 members. */
const operations: Record<string, (bytes: number) => object[]> = {
  'filters with many terms': (bytes) =>
    repeated(bytes, { op: 'remove', path: `roles[${terms(45)}]` }),
  'filters in parentheses': (bytes) =>
    repeated(bytes, { op: 'remove', path: `roles[${'('.repeat(990)}a pr${')'.repeat(990)}]` }),
  'filters of negations': (bytes) =>
    repeated(bytes, { op: 'remove', path: `roles[${'not '.repeat(490)}a pr]` }),
  'filters with a negation of each term': (bytes) =>
    repeated(bytes, {
      op: 'remove',
      path: `roles[${Array(45).fill('not (value eq "zz")').join(' and ')} and value eq "zz"]`,
    }),
  'short filters': (bytes) =>
    repeated(bytes, { op: 'remove', path: 'roles[value eq "z"]' }).slice(0, 990),
  'values removed one by one': (bytes) =>
    repeated(bytes, { op: 'remove', path: 'roles', value: [{ value: 'z' }] }).slice(0, 990),
  'values added one by one': (bytes) =>
    repeated(bytes, { op: 'add', path: 'roles', value: elements(2) }).slice(0, 990),
  'many values removed by each operation': (bytes) =>
    repeated(bytes, { op: 'remove', path: 'roles', value: values(60) }),
  'objects removed by each operation': (bytes) =>
    repeated(bytes, { op: 'remove', path: 'roles', value: elements(60) }),
  'a part of every value': (bytes) =>
    repeated(bytes, { op: 'add', path: 'roles.display', value: 'x' }).slice(0, 990),
  'the whole list': (bytes) => repeated(bytes, { op: 'add', path: 'roles', value: elements(400) }),
  'many attributes': (bytes) => [{ op: 'add', value: keyed(bytes) }],
  'a long value that is compared': (bytes) => [
    { op: 'add', path: 'entitlements', value: [{ value: fill(bytes / 2, 'x') }] },
    ...repeated(bytes / 2, { op: 'remove', path: `entitlements[${terms(45)}]` }),
  ],
  'a long value that is compared by short filters': (bytes) => [
    { op: 'add', path: 'entitlements', value: [{ value: fill(bytes / 2, 'x') }] },
    ...repeated(bytes / 2, { op: 'remove', path: 'entitlements[value eq "z"]' }).slice(0, 900),
  ],
  'many declared extensions': (bytes) =>
    repeated(bytes, { op: 'add', value: { 'urn:a:b:c': { d: 1 } } }).slice(0, 990),
  'a long path': (bytes) => [{ op: 'add', path: fill(bytes, 'a.'), value: 1 }],
}

function repeated(bytes: number, operation: object): object[] {
  const count = Math.max(1, Math.floor(bytes / (JSON.stringify(operation).length + 1)))
  return Array.from({ length: count }, () => operation)
}

const keyed = (bytes: number) =>
  Object.fromEntries(Array.from({ length: bytes / 10 }, (_, at) => [`k${at}`, 1]))

const filters: Record<string, (bytes: number) => string> = {
  'many terms': () => Array(50).fill('userName co "zz"').join(' or '),
  parentheses: (bytes) => `${fill(bytes / 2, '(')}userName pr${fill(bytes / 2, ')')}`,
  negations: (bytes) => `${fill(bytes, 'not (')}userName pr`,
  'a long value': (bytes) => `userName eq "${fill(bytes, '\\\\')}"`,
  'a value that does not end': (bytes) => `userName eq "${fill(bytes, 'a')}`,
  'a long name': (bytes) => `${fill(bytes, 'a.')} pr`,
  'white space': (bytes) => `userName ${fill(bytes, ' ')}`,
}

const resources: Record<string, (bytes: number) => object> = {
  'many attributes': (bytes) => ({ userName: 'x', ...keyed(bytes) }),
  'many values': (bytes) => ({ userName: 'x', roles: elements(bytes / 40) }),
  'one long value': (bytes) => ({ userName: 'x', note: fill(bytes, 'é') }),
}

export async function scimLoads(
  app: App,
  { create, connection, token }: ScimClient,
): Promise<Load[]> {
  const userName = 'budget@corp.test'
  const { id } = await create({ userName, roles: elements(500) })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' }
  const loads = <Document>(
    parser: string,
    bytes: number,
    documents: Record<string, (bytes: number) => Document>,
    request: { method: 'POST' | 'PATCH'; path: string; toBody: (document: Document) => object },
  ) =>
    Object.entries(documents).map(([title, make]): Load => {
      const { method, path, toBody } = request
      const payload = JSON.stringify(toBody(make(bytes - 5_000)))
      const url = `/scim/v2/${connection.id}${path}`
      return { parser, title, bytes, run: () => app.inject({ method, url, headers, payload }) }
    })
  return [smallBytes, largeBytes].flatMap((bytes) => [
    ...loads('SCIM PATCH', bytes, operations, {
      method: 'PATCH',
      path: `/Users/${id}`,
      toBody: (list) => ({ schemas: [patchSchema], Operations: [...list, rejected] }),
    }),
    ...loads('SCIM filter', bytes, filters, {
      method: 'POST',
      path: '/Users/.search',
      toBody: (filter) => ({ filter }),
    }),
    ...loads('SCIM resource', bytes, resources, {
      method: 'POST',
      path: '/Users',
      toBody: (resource) => ({ schemas: [userSchema], ...resource }),
    }),
  ])
}
