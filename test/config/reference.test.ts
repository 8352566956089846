import assert from 'node:assert/strict'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import { Kind, type TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { configDocs } from '../../cli/config-docs/index.ts'
import { listReferenceSections } from '../../cli/config-docs/sections.ts'
import { expectation } from '../../config/core/expectation.ts'
import { parsers } from '../../config/core/parsers.ts'
import { withDotEnv } from '../../config/dot-env.ts'
import { variableEntries } from '../../config/groups/index.ts'
import { readConfig } from '../../config/read-config.ts'
import { temporaryFolder } from '../support/processes/temporary-folder.ts'

const groups = new URL('../../config/groups/', import.meta.url)

suite('variable declarations', () => {
  test('have a description, a heading and a parser', () => {
    for (const [name, schema] of variableEntries) {
      assert.match(schema.description ?? '', /^.+\.$/, name)
      assert.ok(schema['x-group'], name)
      assert.ok(schema['x-type'] in parsers, name)
      assert.ok(expectation(schema).length > 3, name)
    }
  })

  test('are unique', async () => {
    const names: string[] = []
    for (const file of globSync('*.ts', {
      cwd: groups,
      exclude: ['index.ts', 'provider-settings.ts'],
    })) {
      const exported: Record<string, unknown> = await import(new URL(file, groups).href)
      // Their names contain that of a provider.
      const { genericOidcFields, ...plain } = exported
      const declared = Object.values(plain).flatMap((group) => Object.entries(Object(group)))
      names.push(...declared.flatMap(([name, schema]) => (Object(schema)['x-group'] ? name : [])))
    }
    const twice = names.filter((name, index) => names.indexOf(name) !== index)
    assert.deepEqual(twice, [])
    assert.deepEqual(names.toSorted(), variableEntries.map(([name]) => name).toSorted())
  })

  test('have a valid default', () => {
    for (const [name, schema] of variableEntries) {
      if (schema.default === undefined || schema[Kind] === 'Unsafe') continue
      assert.ok(Value.Check(schema, schema.default), name)
    }
  })

  test('are secret when the name denotes a secret', () => {
    const secret = /(SECRET|SECRETS|PASS|PRIVATE_KEY|AUTH_TOKEN|API_KEY|ACCESS_KEY|ENCRYPTION_KEY)$/
    const shown = variableEntries.filter(([name, schema]) => secret.test(name) && isShown(schema))
    assert.deepEqual(
      shown.map(([name]) => name),
      ['AUTH_JWT_ACCEPT_SECRET'],
    )
  })
})

suite('configuration reference', () => {
  const { markdown, envExample } = configDocs()

  test('contains each variable', () => {
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

  test('has four cells per row', () => {
    const rows = markdown.split('\n').filter((line) => line.startsWith('|'))
    assert.ok(rows.length > 250)
    for (const row of rows) assert.equal(row.split(/(?<!\\)\|/).length, 6, row)
  })

  test('equals the committed files', () => {
    assert.equal(committed('docs/configuration.md'), markdown)
    assert.equal(committed('.env.example'), envExample)
  })

  test('.env.example starts a server once the secret is filled in', (t) => {
    const file = join(temporaryFolder(t, 'example'), '.env')
    const filled = envExample.replace(/^AUTH_JWT_SECRET=$/m, `AUTH_JWT_SECRET=${'x'.repeat(32)}`)
    writeFileSync(file, filled)
    const notices: string[] = []
    const config = readConfig(withDotEnv({}, file), { dev: true, warn: (m) => notices.push(m) })
    assert.equal(config.AUTH_SITE_URL, 'https://app.example.com')
    assert.deepEqual(notices, [])
  })

  test('.env.example has at most 40 lines and names the reference', () => {
    assert.ok(envExample.trimEnd().split('\n').length <= 40)
    assert.match(envExample, /docs\/configuration\.md/)
  })

  test('documents the defaults', (t) => {
    const required = { ...minimal, AUTH_JWT_SECRET: 'x'.repeat(32) }
    const documented = listReferenceSections()
      .flatMap(({ rows }) => rows)
      .filter(
        ({ name, presetIsValue, ignored }) => presetIsValue && !ignored && !name.includes('<'),
      )
    assert.ok(documented.length > 150)
    const file = join(temporaryFolder(t, 'defaults'), '.env')
    const written = documented.map(({ name, preset }) => `${name}="${preset}"`).join('\n')
    assert.deepEqual(readFrom(file, written, required), readFrom(file, '', required))
  })
})

const minimal = {
  AUTH_SITE_URL: 'https://app.example.com',
  AUTH_API_EXTERNAL_URL: 'https://auth.example.com',
  AUTH_DB_DRIVER: 'postgres',
  DATABASE_URL: 'postgres://postern:password@localhost:5432/postern',
}

function isShown(schema: TSchema): boolean {
  return schema['x-secret'] !== true
}

function committed(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
}

function readFrom(file: string, text: string, env: Record<string, string>) {
  writeFileSync(file, text)
  const { given: _, ...values } = readConfig(withDotEnv(env, file), { dev: true, warn() {} })
  return values
}
