/** A thread that repeats GET /user, so that the load generator does not affect the clock. */
import { parentPort, Worker, workerData } from 'node:worker_threads'

interface Probe {
  url: string
  token: string
  forMs: number
}

/** Milliseconds of each sequential response for the given time. Rejects when one is not 200. */
export function responseTimes(probe: Probe): Promise<number[]> {
  const worker = new Worker(import.meta.filename, { workerData: probe })
  return new Promise((resolve, reject) => {
    worker.once('message', resolve).once('error', reject)
  })
}

async function measure({ url, token, forMs }: Probe): Promise<number[]> {
  const times: number[] = []
  const headers = { authorization: `Bearer ${token}` }
  const end = performance.now() + forMs
  while (performance.now() < end) {
    const began = performance.now()
    const response = await fetch(`${url}/user`, { headers })
    await response.arrayBuffer()
    if (response.status !== 200) throw new Error(`GET /user answered ${response.status}`)
    times.push(performance.now() - began)
  }
  return times
}

parentPort?.postMessage(await measure(workerData))
