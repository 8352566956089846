/** The routes of GoTrue, as its router registers them. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** `folder`: a checked-out GoTrue. Each as `METHOD /path`, with `{}` for parameters. */
export function listGotrueRoutes(folder: string): string[] {
  const read = (file: string) => readFileSync(join(folder, file), 'utf8')
  const scimBase = /BasePath\s*=\s*"([^"]+)"/.exec(readScim(read))?.[1] ?? '/scim/v2'
  const routes: string[] = []
  const open: { indent: number; path: string }[] = []
  for (const line of read('internal/api/api.go').split('\n')) {
    const indent = line.length - line.trimStart().length
    const last = open.at(-1)
    if (last && line.trim() === '})' && indent === last.indent) open.pop()
    const group = /\.Route\((?:"([^"]*)"|scim\.BasePath),/.exec(line)
    if (group) open.push({ indent, path: group[1] ?? scimBase })
    const route = /\.(Get|Post|Put|Patch|Delete)\("([^"]*)",/.exec(line)
    if (!route) continue
    const path = [...open.map((outer) => outer.path), route[2]].join('/')
    routes.push(toName(route[1] ?? '', path))
  }
  return [...new Set(routes)].toSorted()
}

function readScim(read: (file: string) => string): string {
  try {
    return read('internal/api/scim/scim.go')
  } catch {
    return ''
  }
}

/** The same form for both servers. */
export function toName(method: string, path: string): string {
  const clean = `/${path}`.replace(/\/{2,}/g, '/').replace(/(.)\/$/, '$1')
  return `${method.toUpperCase()} ${clean.replace(/\{\w+\}/g, '{}')}`
}
