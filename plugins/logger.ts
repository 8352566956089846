/** The structured log: one JSON object a line, without secrets, addresses of people or query strings. */
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import type { FastifyBaseLogger } from 'fastify'
import pino, { type DestinationStream } from 'pino'

import { version } from '../version.ts'
import { logFields } from './context.ts'
import { gatherLines } from './logger/gather.ts'
import { serializeError, shortenFields, shortenMessage } from './logger/shorten.ts'

/** Replaced in every line, in case one is logged by mistake: nothing logs these on purpose. */
const secretFields = [
  'password',
  'token',
  'token_hash',
  'access_token',
  'refresh_token',
  'code',
  'nonce',
  'secret',
  'authorization',
  'apikey',
  'email',
  'phone',
]

export interface LoggerOptions {
  /** One of panic, fatal, error, warn, info, debug. */
  level: string
  /** Appended to instead of standard output. */
  file?: string | undefined
  /** Other processes write to the same output. */
  isShared?: boolean
}

export interface Logger {
  log: FastifyBaseLogger
  /** Opens the log file anew, after it was moved away. */
  reopen(): void
  /** Before the end of the process: writes what waits, for as long as somebody takes of it. */
  end(): Promise<void>
}

/** Milliseconds after which few lines are written as well. */
const longestMs = 100
/** Bytes that wait for a full disk, or for whoever reads slowly; further lines are lost. */
const mostWaiting = 16 * 2 ** 20
/** Of a process that ends, for whoever reads slowly: from one piece that is taken to the next. */
const longestPauseMs = 3_000
/** With 0, flushing would not wait for what is being written. */
const atOnce = 1
/** Characters that are collected before they are written. */
const fewCharacters = 12_288
/** Where several processes share a pipe, up to 4 KiB stay in one piece. */
const fewSharedCharacters = 2_048

/** What is not written yet when the process ends is written then. Throws, in one sentence, where the file cannot be. */
export function createLogger({ level, file, isShared = false }: LoggerOptions): Logger {
  if (file !== undefined) checkWritable(file)
  const to = file ? { dest: file } : { fd: process.stdout.fd }
  let triedUntil = Number.POSITIVE_INFINITY
  const destination = pino.destination({
    ...to,
    sync: false,
    minLength: atOnce,
    maxLength: mostWaiting,
    retryEAGAIN: () => performance.now() < triedUntil,
  })
  const lines = gatherLines(destination, {
    fewCharacters: isShared ? fewSharedCharacters : fewCharacters,
    longestMs,
  })
  const log = createPino(level, lines)
  outlastFullDisk(destination, log)
  boundLastLines(destination, (time) => {
    triedUntil = time
  })
  return {
    log,
    reopen: () => file && reopen(file, destination, log),
    end: () => writeLastLines(destination),
  }
}

type Destination = ReturnType<typeof pino.destination>

/** Writes what waits, as long as somebody takes of it. What nobody takes is lost. */
async function writeLastLines(destination: Destination): Promise<void> {
  let isOver = false
  let takenAt = performance.now()
  destination.on('write', () => {
    takenAt = performance.now()
  })
  destination.flush(() => {
    isOver = true
  })
  while (!isOver && performance.now() - takenAt < longestPauseMs) await pause(10)
  if (!isOver) destination.flushSync = () => {}
}

/** Where the process ends otherwise, these lines are written while everything waits: for a reader who takes nothing, not long. */
function boundLastLines(destination: Destination, tryUntil: (time: number) => void): void {
  const flushSync = destination.flushSync.bind(destination)
  destination.flushSync = () => {
    tryUntil(performance.now() + longestPauseMs)
    try {
      flushSync()
    } catch {
      // Nobody reads; there is nowhere to say so.
    } finally {
      tryUntil(Number.POSITIVE_INFINITY)
    }
  }
}

/** Left alone, a line that cannot be written ends the process, and whoever writes the last ones tries for ever. */
function outlastFullDisk(destination: Destination, log: FastifyBaseLogger): void {
  let isFailing = false
  let lost = 0
  destination.on('error', (error: NodeJS.ErrnoException) => {
    // Nobody reads any more, and nobody is to be told.
    if (isFailing || error.code === 'EPIPE') return
    isFailing = true
    console.error(`The log cannot be written (${error.message}). The server goes on; lines wait.`)
  })
  destination.on('drop', (lines: string) => {
    lost += lines.split('\n').length - 1
  })
  destination.on('write', () => {
    isFailing = false
  })
  destination.on('drain', () => {
    if (lost > 0) log.error({ lost }, 'lines were lost while the log could not be written')
    lost = 0
  })
  const flushSync = destination.flushSync.bind(destination)
  destination.flushSync = () => {
    if (!isFailing) flushSync()
  }
}

function reopen(file: string, destination: { reopen(): void }, log: FastifyBaseLogger): void {
  try {
    checkWritable(file)
    destination.reopen()
  } catch (error) {
    log.error({ err: error }, 'the log file cannot be opened anew: lines go on into the old one')
  }
}

/** Makes the file, and the folder it lies in. Not the folders above it: below /proc, Node would try that for ever. */
function checkWritable(file: string): void {
  try {
    if (!existsSync(dirname(file))) mkdirSync(dirname(file))
    closeSync(openSync(file, 'a'))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(
      `AUTH_LOG_FILE cannot be written (${reason}): name a file in a folder that this user may write to.`,
    )
  }
}

/** For lines that can hold no secret: looking for one costs three times as much as writing the line. */
export function unredacted(log: FastifyBaseLogger): FastifyBaseLogger {
  return log.child({}, { redact: [] })
}

export function createPino(level: string, destination: DestinationStream): FastifyBaseLogger {
  const options = {
    // The specification's highest level, which pino has under another name.
    level: level === 'panic' ? 'fatal' : level,
    redact: { paths: secretFields.flatMap((field) => [field, `*.${field}`]), censor: '[redacted]' },
    formatters: { level: (name: string) => ({ level: name }), log: shortenFields },
    serializers: { err: serializeError, msg: shortenMessage },
    base: { version },
    mixin: logFields,
    // The other order than pino's own, which would write into what the mixin returned.
    mixinMergeStrategy: (line: object, fields: object) => ({ ...fields, ...line }),
    timestamp: pino.stdTimeFunctions.isoTime,
  }
  return pino(options, destination)
}
