import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

import { rootAmong, rootsNamed } from './process-tree.ts'

const loopback = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * The process that listens on the port of a URL, when it is local and readable. With several (a cluster) their parent.
 */
export function findListener(url: string): number | undefined {
  const { hostname, port, protocol } = new URL(url)
  if (!loopback.has(hostname)) return undefined
  const number = Number(port) || defaultPorts[protocol]
  if (number === undefined) return undefined
  const sockets = listeningSockets(number)
  return rootAmong(processIds().filter((pid) => hasSocket(pid, sockets)))
}

/** The postmaster behind a database URL, or the only one on this machine. */
export function postmaster(databaseUrl: string | undefined): number | undefined {
  if (databaseUrl) return findListener(databaseUrl)
  const roots = rootsNamed('postgres')
  return roots.length === 1 ? roots[0] : undefined
}

const defaultPorts: Record<string, number> = {
  'http:': 80,
  'https:': 443,
  'postgres:': 5432,
  'postgresql:': 5432,
}

/** Links of the form socket:[inode], as /proc/<pid>/fd shows them. */
function listeningSockets(port: number): Set<string> {
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  const lines = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) => readLines(file))
  const fields = lines.map((line) => line.trim().split(/\s+/))
  // proc_net(5): local address, state (0A is LISTEN), inode.
  const listening = fields.filter(
    ([, local, , state]) => state === '0A' && local?.endsWith(`:${hex}`),
  )
  return new Set(listening.map((field) => `socket:[${field[9]}]`))
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(1)
  } catch {
    return []
  }
}

function processIds(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger)
  } catch {
    return []
  }
}

function hasSocket(pid: number, sockets: Set<string>): boolean {
  try {
    const folder = `/proc/${pid}/fd`
    return readdirSync(folder).some((fd) => sockets.has(readLink(`${folder}/${fd}`)))
  } catch {
    // Already ended, or owned by another user.
    return false
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
