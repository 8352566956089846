/** A release read from its files, at a git revision or in the working tree. */
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'

import type { Release } from './compare.ts'
import { type Answers, collectFields, type Responses, type Schema } from './response-fields.ts'

/** Text of a file, undefined when there is none. */
type Read = (path: string) => string | undefined

interface Source {
  read: Read
  migrations: string[]
}

export function workingTree(): Source {
  const read: Read = (path) => {
    try {
      return readFileSync(path, 'utf8')
    } catch {
      return undefined
    }
  }
  return { read, migrations: globSync('db/migrations/[0-9]*.ts') }
}

export function revision(name: string): Source {
  const git = (...args: string[]) =>
    execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  const read: Read = (path) => {
    try {
      return git('show', `${name}:${path}`)
    } catch {
      return undefined
    }
  }
  const files = git('ls-tree', '--name-only', name, 'db/migrations/').trim().split('\n')
  return { read, migrations: files.filter((file) => /\/\d[^/]*\.ts$/.test(file)) }
}

export function readRelease({ read, migrations }: Source): Release {
  const api: Document = JSON.parse(read('docs/openapi.json') ?? '{}')
  return {
    version: readVersion(read('package.json') ?? '{}'),
    operations: new Map(
      listOperations(api).map(([name, operation]) => [name, listInputs(operation)]),
    ),
    answers: answersOfAll(api),
    variables: parseVariables(read('docs/configuration.md') ?? ''),
    migrations: new Map(migrations.map((file) => [basename(file, '.ts'), read(file) ?? ''])),
  }
}

function readVersion(manifest: string): string {
  return String(JSON.parse(manifest).version ?? '')
}

interface Document {
  paths?: Record<string, Record<string, Operation>>
  components?: { schemas?: Record<string, Schema> }
}
interface Operation {
  parameters?: { name: string; in: string; required?: boolean }[]
  requestBody?: { content?: Record<string, { schema?: Schema }> }
  responses?: Responses
}

function listOperations({ paths = {} }: Document): [string, Operation][] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [
      `${method.toUpperCase()} ${path}`,
      operation,
    ]),
  )
}

function answersOfAll(document: Document): Map<string, Answers> {
  const schemas = document.components?.schemas ?? {}
  return new Map(
    listOperations(document).map(([name, { responses = {} }]) => [
      name,
      collectFields(responses, schemas),
    ]),
  )
}

function listInputs({ parameters = [], requestBody }: Operation): Map<string, boolean> {
  const body = Object.values(requestBody?.content ?? {})[0]?.schema ?? {}
  const fields = Object.keys(body.properties ?? {})
  return new Map([
    ...parameters.map((one): [string, boolean] => [`${one.in} ${one.name}`, one.required ?? false]),
    ...fields.map((name): [string, boolean] => [
      `body ${name}`,
      body.required?.includes(name) ?? false,
    ]),
  ])
}

/** Rows of the reference: name or names, type, default, meaning. */
function parseVariables(reference: string): Map<string, string> {
  const rows = [...reference.matchAll(/^\| `(\w+)`[^|]*\| [^|]*\| ([^|]*) \|/gm)]
  return new Map(rows.map(([, name = '', value = '']) => [name, value.trim()]))
}
