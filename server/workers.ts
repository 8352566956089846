/** AUTH_WORKERS: starts worker processes, which share the port, and replaces those that exit. */
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'

import type { FastifyBaseLogger } from 'fastify'

/** The variable with the index of a worker, from 0. */
export const workerVariable = 'POSTERN_WORKER'

const replacementMs = 1_000

interface Workers {
  /** Sends a signal to all workers. */
  signal(name: NodeJS.Signals): void
  /** Stops replacing workers, sends the signal and resolves when all have exited. */
  stop(name: NodeJS.Signals): Promise<void>
}

/** Resolves when the first worker accepts requests. Throws when one exits before; its reason is in the log. */
export async function startWorkers(
  count: number,
  log: Pick<FastifyBaseLogger, 'info' | 'error'>,
): Promise<Workers> {
  const workers = new Map<number, Worker>()
  let stopping = false

  function start(index: number): void {
    const worker = cluster.fork({ [workerVariable]: String(index) })
    workers.set(index, worker)
    worker.once('exit', (code, signal) => {
      if (stopping) return
      log.error(
        { worker: index, pid: worker.process.pid, exit_code: code, signal },
        describeExit(index, code, signal),
      )
      setTimeout(() => !stopping && start(index), replacementMs)
    })
  }

  function signalAll(name: NodeJS.Signals): void {
    for (const worker of workers.values()) worker.process.kill(name)
  }

  async function stop(name: NodeJS.Signals): Promise<void> {
    stopping = true
    const living = [...workers.values()].filter((worker) => !worker.isDead())
    const ends = living.map((worker) => once(worker, 'exit'))
    signalAll(name)
    await Promise.all(ends)
  }

  for (let index = 0; index < count; index++) start(index)
  try {
    await firstListens()
  } catch (error) {
    await stop('SIGTERM')
    throw error
  }
  log.info({ workers: count }, 'workers started')
  return { signal: signalAll, stop }
}

/** Describes the exit: out of memory, killed, or an error in the code. */
function describeExit(index: number, code: number | null, signal: string | null): string {
  const how = signal ? `was killed by ${signal}` : `ended with code ${code}`
  return `worker ${index} ${how} and will be replaced`
}

function firstListens(): Promise<void> {
  return new Promise((resolve, reject) => {
    cluster.once('listening', () => resolve())
    cluster.once('exit', (worker, code, signal) => {
      const { pid } = worker.process
      const how = signal ? `killed by ${signal}` : `exit code ${code}`
      reject(
        new Error(`A worker could not start (process ${pid}, ${how}): the log has the reason.`),
      )
    })
  })
}
