/** Fields of Kubernetes objects that their types do not have: validation by schema accepts them. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

const root = join(import.meta.dirname, '../..')
const prometheus = '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1'

export interface TypedObject {
  object: unknown
  /** The name of its interface. */
  type: string
  /** `apps/v1`; undefined for an object of the Prometheus operator. */
  from: string | undefined
}

/** Compiler errors for the objects as literals of their types, which reject other fields. */
export function unknownFields(t: TestContext, objects: readonly TypedObject[]): string {
  // Below the packages that the types are of.
  const cache = join(root, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const place = mkdtempSync(join(cache, 'kubernetes-'))
  t.after(() => rmSync(place, { recursive: true }))
  const lines = objects.map(({ object, type, from }) => {
    const types = from ? `kubernetes-models/${from}` : prometheus
    return `void (${JSON.stringify(object)} satisfies import('${types}').${type})`
  })
  const source = join(place, 'objects.ts')
  writeFileSync(source, `export {}\n${lines.join('\n')}\n`)
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022']
  const modules = ['--module', 'nodenext', '--moduleResolution', 'nodenext', '--ignoreConfig']
  const compiler = join(root, 'node_modules/.bin/tsc')
  return spawnSync(compiler, [...options, ...modules, source], { encoding: 'utf8' }).stdout
}
