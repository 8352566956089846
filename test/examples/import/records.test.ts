/** The forms in which exports list their users, and records that cannot be read. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'

import { isObject } from '../../../examples/import/shared/json.ts'
import { readRecords } from '../../../examples/import/shared/records.ts'
import { temporaryFolder } from '../../support/processes/temporary-folder.ts'
import { convert } from './converter.ts'

const [ann, bob] = ['{"email":"ann@b.co"}', '{"email":"bob@b.co"}']
const pretty = JSON.stringify(
  { realm: 'r', clients: [{ id: 'c' }], users: [JSON.parse(ann)] },
  null,
  2,
)

const forms: Record<string, string> = {
  'one JSON array': `[${ann},${bob}]`,
  'an array with a user a line': `[\n${ann},\n${bob}\n]\n`,
  'one object a line': `${ann}\n${bob}\n`,
  'an object with the list': `{"users":[${ann},${bob}],"next":null}`,
  'pages one after the other': `${pretty}\n${JSON.stringify({ users: [JSON.parse(bob)] }, null, 2)}`,
  'a page a line': `{"users":[${ann}]}\n{"users":[${bob}]}\n`,
  'text with a byte order mark and CR LF': `\uFEFF${ann}\r\n\r\n${bob}\r\n`,
}

/** Each has one broken record between the two. */
const broken: Record<string, string> = {
  'a line that ends early': `${ann}\n{"email":"eve@b\n${bob}`,
  'a first line that ends early': `{"email":"eve@b\n${ann}\n${bob}`,
  'invalid JSON in an array': `[${ann},{"email":eve},${bob}]`,
  'a bracket of the wrong kind': `[${ann},{"email":["eve"},${bob}]`,
  'a text without end in an indented list': `{
  "users": [
    {
      "email": "ann@b.co"
    },
    {
      "email": "eve,
      "identities": [
        {
          "provider": "x"
        }
      ]
    },
    {
      "email": "bob@b.co"
    }
  ]
}`,
  'a value that is no object': `[${ann},"eve",${bob}]`,
  null: `[${ann},null,${bob}]`,
  'the end of the file': `[\n${ann},\n${bob},\n{\n"email": "eve`,
}

suite('examples: records of exports', () => {
  for (const [form, text] of Object.entries(forms)) {
    test(`finds the users of ${form}`, async (t) => {
      assert.deepEqual(await read(t, text), [{ email: 'ann@b.co' }, { email: 'bob@b.co' }])
    })
  }

  for (const [cause, text] of Object.entries(broken)) {
    test(`loses one record to ${cause}`, async (t) => {
      const values = await read(t, text)
      assert.deepEqual(values.filter(isObject), [{ email: 'ann@b.co' }, { email: 'bob@b.co' }])
      assert.equal(values.length, 3)
    })
  }

  test('reports a record that cannot be read, without its data, and converts the others', async (t) => {
    const text = `[${ann},{"email":eve},null,{"email":"eve@b.co","blocked":"perhaps"},${bob}]`
    const { users, notes } = await convert(t, 'auth0.ts', [text])
    assert.deepEqual(
      users.map(({ email }) => email),
      ['ann@b.co', 'bob@b.co'],
    )
    assert.match(notes, /2 of 5 converted/)
    assert.match(notes, /record 2 is not readable: it is not a JSON object/)
    assert.match(notes, /record 3 is not readable: it is not a JSON object/)
    assert.match(notes, /record 4 is not readable: blocked is neither true nor false/)
    assert.doesNotMatch(notes, /eve|perhaps/)
  })

  test('keeps every digit of an id that is a number', async (t) => {
    const [id, safe] = ['12345678901234567890', '9007199254740991']
    const identities = `[{"provider":"github","user_id":${id}},{"provider":"facebook","user_id":${safe}}]`
    const metadata = `{"tenant":${id},"small":7,"ratio":1.5,"large":1e30}`
    const text = `[{"user_id":${id},"email":"ann@b.co","email_verified":true,"identities":${identities},"user_metadata":${metadata}}]`
    const { users } = await convert(t, 'auth0.ts', [text])
    const [user = {}] = users
    assert.deepEqual(user.app_metadata, { auth0_id: id })
    assert.deepEqual(user.user_metadata, { tenant: id, small: 7, ratio: 1.5, large: 1e30 })
    const linked = [user.identities].flat().map((one) => isObject(one) && one.provider_id)
    assert.deepEqual(linked.filter(Boolean), [id, safe])
  })

  test('keeps the digits of numbers in every form of a file', async (t) => {
    const [one, other] = ['12345678901234567890', '-98765432109876543210']
    const records = [`{"user_id":${one}}`, `{"user_id":${other}}`]
    for (const text of [records.join('\n'), `[\n${records.join(',\n')}\n]`]) {
      assert.deepEqual(await read(t, text), [{ user_id: one }, { user_id: other }])
    }
  })

  test('rejects a file without users in JSON', async (t) => {
    await assert.rejects(
      convert(t, 'auth0.ts', ['email,name\nann@b.co,Ann\n']),
      /export the users as JSON/,
    )
  })

  test('reads times as numbers, as text, and without zone', async (t) => {
    const times = [
      1_706_781_600,
      '1706781600',
      1_706_781_600_000,
      '1706781600000',
      1_706_781_600.25,
      '2024-02-01T10:00:00',
      '2024-02-01 10:00:00.000',
      '2024-02-01T11:00:00+01:00',
      '2024-02-01 05:00:00-0500',
      'Thu, 01 Feb 2024 10:00:00 GMT',
      'Thu Feb 01 2024 10:00:00',
      { $date: '2024-02-01T10:00:00.000Z' },
      { $date: { $numberLong: '1706781600000' } },
    ]
    const records = times.map((created_at) => ({ email: 'ann@b.co', created_at }))
    const { users, notes } = await convert(t, 'auth0.ts', [
      [...records, { created_at: 'yesterday' }],
    ])
    for (const [i, { created_at }] of users.slice(0, -1).entries()) {
      assert.match(String(created_at), /^2024-02-01T10:00:00\.(000|250)Z$/, String(times[i]))
    }
    assert.equal(users.at(-1)?.created_at, undefined)
    assert.match(notes, /left out: created_at: not a time \(1\)/)
  })
})

async function read(t: TestContext, text: string): Promise<unknown[]> {
  const file = join(temporaryFolder(t, 'records'), 'export.json')
  await writeFile(file, text)
  const values: unknown[] = []
  for await (const { value } of readRecords(file, 'users')) values.push(value)
  return values
}
