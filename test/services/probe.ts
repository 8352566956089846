/** A thread that asks for GET /user again and again, so that whoever makes the storm does not slow the clock. */
import { parentPort, Worker, workerData } from 'node:worker_threads'

interface Probe {
  url: string
  token: string
  forMs: number
}

/** Milliseconds of each answer, one after the other, for so long. Rejects when one is not 200. */
export function answerTimes(probe: Probe): Promise<number[]> {
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
    const answer = await fetch(`${url}/user`, { headers })
    await answer.arrayBuffer()
    if (answer.status !== 200) throw new Error(`GET /user answered ${answer.status}`)
    times.push(performance.now() - began)
  }
  return times
}

parentPort?.postMessage(await measure(workerData))
