import { readdirSync, readFileSync } from 'node:fs'

export interface Usage {
  /** Processor time of the process and all it ever started, in milliseconds; steps of 10. */
  cpuMs: number
  /** Resident memory of all of them, in MiB. */
  residentMib: number
}

interface ProcessStat {
  pid: number
  name: string
  parent: number
  ticks: number
  pages: number
}

// The kernel reports processor time in USER_HZ, which is 100 on Linux, and memory in pages.
const msPerTick = 10
const mibPerPage = 4096 / 1024 / 1024

/**
 * The resources that a process and its children have used. Ended children are included: their time is
 * added to that of the parent that waited for them. Undefined when the process, or /proc, is not there.
 */
export function readUsage(root: number | undefined): Usage | undefined {
  if (root === undefined) return undefined
  const processes = listProcesses()
  const tree = collectTree(root, processes)
  if (tree.length === 0) return undefined
  return {
    cpuMs: tree.reduce((sum, { ticks }) => sum + ticks, 0) * msPerTick,
    residentMib: tree.reduce((sum, { pages }) => sum + pages, 0) * mibPerPage,
  }
}

/** The processes of that name that were not started by another of that name. */
export function rootsNamed(name: string): number[] {
  const named = listProcesses().filter((process) => process.name === name)
  return topmost(named).map(({ pid }) => pid)
}

/** The process among these that started the others; undefined for none or several. */
export function rootAmong(pids: number[]): number | undefined {
  const roots = topmost(listProcesses().filter(({ pid }) => pids.includes(pid)))
  return roots.length === 1 ? roots[0]?.pid : undefined
}

function topmost(processes: ProcessStat[]): ProcessStat[] {
  const pids = new Set(processes.map(({ pid }) => pid))
  return processes.filter(({ parent }) => !pids.has(parent))
}

function collectTree(root: number, processes: ProcessStat[]): ProcessStat[] {
  const children = Map.groupBy(processes, ({ parent }) => parent)
  const tree = processes.filter(({ pid }) => pid === root)
  // The list grows during the loop: the children of each process are appended.
  for (const { pid } of tree) tree.push(...(children.get(pid) ?? []))
  return tree
}

function listProcesses(): ProcessStat[] {
  try {
    return readdirSync('/proc')
      .filter(isNumber)
      .map(readStat)
      .filter((stat) => stat !== undefined)
  } catch {
    return []
  }
}

function readStat(pid: string): ProcessStat | undefined {
  try {
    return parseStat(Number(pid), readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    // It ended between the listing and now.
    return undefined
  }
}

/** Parses proc_pid_stat(5). The name may contain blanks and parentheses, so fields are counted from its end. */
function parseStat(pid: number, line: string): ProcessStat {
  const name = line.slice(line.indexOf('(') + 1, line.lastIndexOf(')'))
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  const number = (field: number) => Number(fields[field - 3])
  const ticks = number(14) + number(15) + number(16) + number(17)
  return { pid, name, parent: number(4), ticks, pages: number(24) }
}

function isNumber(name: string): boolean {
  return /^\d+$/.test(name)
}
