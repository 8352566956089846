import assert from 'node:assert/strict'
import { globSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import { Kind, type TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { configDocs } from '../../../cli/config-docs.ts'
import { variableEntries } from '../../../plugins/config/config.ts'
import { withDotEnv } from '../../../plugins/config/dot-env.ts'
import { expectation } from '../../../plugins/config/expectation.ts'
import { parsers } from '../../../plugins/config/parsers.ts'
import { readConfig } from '../../../plugins/config/read-config.ts'

const groups = new URL('../../../plugins/config/groups/', import.meta.url)

suite('every variable', () => {
  test('has a description, a heading and a parser', () => {
    for (const [name, schema] of variableEntries) {
      assert.match(schema.description ?? '', /^.+\.$/, name)
      assert.ok(schema['x-group'], name)
      assert.ok(schema['x-type'] in parsers, name)
      assert.ok(expectation(schema).length > 3, name)
    }
  })

  test('is declared once', async () => {
    const names: string[] = []
    for (const file of globSync('*.ts', { cwd: groups })) {
      const exported: Record<string, unknown> = await import(new URL(file, groups).href)
      const declared = Object.values(exported).flatMap((group) => Object.entries(Object(group)))
      names.push(...declared.flatMap(([name, schema]) => (Object(schema)['x-group'] ? name : [])))
    }
    const twice = names.filter((name, index) => names.indexOf(name) !== index)
    assert.deepEqual(twice, [])
    assert.deepEqual(names.toSorted(), variableEntries.map(([name]) => name).toSorted())
  })

  test('has a default that it would accept', () => {
    for (const [name, schema] of variableEntries) {
      if (schema.default === undefined || schema[Kind] === 'Unsafe') continue
      assert.ok(Value.Check(schema, schema.default), name)
    }
  })

  test('hides itself when its name says that it is a secret', () => {
    const secret = /(SECRET|SECRETS|PASS|PRIVATE_KEY|AUTH_TOKEN|API_KEY|ACCESS_KEY|ENCRYPTION_KEY)$/
    const shown = variableEntries.filter(([name, schema]) => secret.test(name) && isShown(schema))
    assert.deepEqual(
      shown.map(([name]) => name),
      ['AUTH_JWT_ACCEPT_SECRET'],
    )
  })
})

suite('the reference', () => {
  const { markdown, envExample } = configDocs()

  test('has every variable', () => {
    const provider = /^AUTH_EXTERNAL_(?!APPLE_)[A-Z_]+_(ENABLED|CLIENT_ID|SECRET|URL|REDIRECT_URI)$/
    for (const [name] of variableEntries) {
      const isOfProvider =
        provider.test(name) ||
        /_EXTERNAL_.*_(EMAIL_OPTIONAL|SKIP_NONCE_CHECK|ID_TOKEN_ONLY)$/.test(name)
      if (!isOfProvider && !name.startsWith('AUTH_EXTERNAL_APPLE_')) {
        assert.ok(markdown.includes(`\`${name}\``), name)
      }
    }
    assert.ok(markdown.includes('`AUTH_EXTERNAL_<PROVIDER>_CLIENT_ID`'))
    assert.ok(markdown.includes('`AUTH_EXTERNAL_OIDC_<NAME>_ISSUER`'))
  })

  test('is a table with four cells in every row', () => {
    const rows = markdown.split('\n').filter((line) => line.startsWith('|'))
    assert.ok(rows.length > 250)
    for (const row of rows) assert.equal(row.split(/(?<!\\)\|/).length, 6, row)
  })

  test('is what the repository holds', () => {
    assert.equal(committed('docs/configuration.md'), markdown)
    assert.equal(committed('.env.example'), envExample)
  })

  test('the example starts a server once the secret is filled in', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'postern-example-')), '.env')
    const filled = envExample.replace(/^AUTH_JWT_SECRET=$/m, `AUTH_JWT_SECRET=${'x'.repeat(32)}`)
    writeFileSync(file, filled)
    const notices: string[] = []
    const config = readConfig(withDotEnv({}, file), { dev: true, warn: (m) => notices.push(m) })
    assert.equal(config.AUTH_SITE_URL, 'https://app.example.com')
    assert.deepEqual(notices, [])
  })

  test('the defaults in the example are the defaults', () => {
    const least = { AUTH_JWT_SECRET: 'x'.repeat(32) }
    const file = join(mkdtempSync(join(tmpdir(), 'postern-example-')), '.env')
    const plain = readExample(file, envExample, least)
    const preset = variableEntries
      .filter(([, schema]) => schema.default !== undefined && schema['x-example'] === undefined)
      .map(([name]) => name)
    const everySet = envExample.replace(/^# ([A-Z_0-9]+=)/gm, (line, start) =>
      preset.some((name) => start === `${name}=`) ? start : line,
    )
    assert.deepEqual(readExample(file, everySet, least), plain)
  })
})

function isShown(schema: TSchema): boolean {
  return schema['x-secret'] !== true
}

function committed(path: string): string {
  return readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
}

function readExample(file: string, text: string, env: Record<string, string>) {
  writeFileSync(file, text)
  return readConfig(withDotEnv(env, file), { dev: true, warn() {} })
}
