/** The structured log: one JSON object per line, without secrets, users' addresses or query strings. */
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import type { FastifyBaseLogger } from 'fastify'
import pino, { type DestinationStream } from 'pino'

import { version } from '../../../version.ts'
import { logFields } from '../request-context/index.ts'
import { gatherLines } from './gather.ts'
import { serializeError, shortenFields, shortenMessage } from './shorten.ts'

/** Redacted in every line as a safeguard: no code logs these intentionally. */
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

interface LoggerOptions {
  /** One of panic, fatal, error, warn, info, debug. */
  level: string
  /** Appended to instead of standard output. */
  file?: string | undefined
  /** Other processes write to the same output. */
  isShared?: boolean
  /** What is written instead of a line of JSON. */
  format?: (line: string) => string
}

export interface Logger {
  log: FastifyBaseLogger
  /** Reopens the log file after it was rotated. */
  reopen(): void
  /** At process exit: writes the buffer while the reader accepts data. */
  end(): Promise<void>
}

/** Milliseconds after which the buffer is written in any case. */
const maxDelayMs = 100
/** Maximum buffered bytes while the disk is full or the reader is slow; further lines are dropped. */
const maxWaiting = 16 * 2 ** 20
/** At process exit, for a slow reader: the maximum time between two accepted writes. */
const maxPauseMs = 3_000
/** With 0, flushing would not wait for the write in progress. */
const minFlushLength = 1
/** Buffered characters that trigger a write. */
const minCharacters = 12_288
/** When several processes share a pipe, only writes of up to 4 KiB are atomic. */
const minSharedCharacters = 2_048

/** The buffer is written when the process ends. Throws, with one sentence, when the file cannot be opened. */
export function createLogger({ level, file, isShared = false, format }: LoggerOptions): Logger {
  if (file !== undefined) checkWritable(file)
  const to = file ? { dest: file } : { fd: process.stdout.fd }
  let triedUntil = Number.POSITIVE_INFINITY
  const destination = pino.destination({
    ...to,
    sync: false,
    minLength: minFlushLength,
    maxLength: maxWaiting,
    retryEAGAIN: () => performance.now() < triedUntil,
  })
  const lines = gatherLines(destination, {
    minCharacters: isShared ? minSharedCharacters : minCharacters,
    maxDelayMs,
  })
  const formatted = format && { write: (line: string) => lines.write(format(line)) }
  const log = createPino(level, formatted ?? lines)
  retryFailedWrites(destination, log)
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

/** Writes the buffer while the reader accepts data; the rest is lost. */
async function writeLastLines(destination: Destination): Promise<void> {
  let isOver = false
  let takenAt = performance.now()
  destination.on('write', () => {
    takenAt = performance.now()
  })
  destination.flush(() => {
    isOver = true
  })
  while (!isOver && performance.now() - takenAt < maxPauseMs) await pause(10)
  if (!isOver) destination.flushSync = () => {}
}

/** On other exits these lines are written synchronously, with a time limit for a reader that accepts nothing. */
function boundLastLines(destination: Destination, tryUntil: (time: number) => void): void {
  const flushSync = destination.flushSync.bind(destination)
  destination.flushSync = () => {
    tryUntil(performance.now() + maxPauseMs)
    try {
      flushSync()
    } catch {
      // The reader is gone, so the failure cannot be reported.
    } finally {
      tryUntil(Number.POSITIVE_INFINITY)
    }
  }
}

/** By default, a failed write ends the process, and a synchronous write is retried forever. */
function retryFailedWrites(destination: Destination, log: FastifyBaseLogger): void {
  let isFailing = false
  let lost = 0
  destination.on('error', (error: NodeJS.ErrnoException) => {
    // The reader has closed the pipe, or the failure was already reported.
    if (isFailing || error.code === 'EPIPE') return
    isFailing = true
    console.error(
      `The log cannot be written (${error.message}). The server continues; lines are buffered.`,
    )
  })
  destination.on('drop', (lines: string) => {
    lost += lines.split('\n').length - 1
  })
  destination.on('write', () => {
    isFailing = false
  })
  destination.on('drain', () => {
    if (lost > 0) log.error({ lost }, 'log lines lost while the log could not be written')
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
    log.error({ err: error }, 'log file cannot be reopened, the old file stays in use')
  }
}

/** Creates the file and its folder. Not the parent folders: below /proc, Node would retry that forever. */
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

/** For lines that cannot contain secrets: redaction costs three times as much as writing the line. */
export function unredacted(log: FastifyBaseLogger): FastifyBaseLogger {
  return log.child({}, { redact: [] })
}

export function createPino(level: string, destination: DestinationStream): FastifyBaseLogger {
  const options = {
    // The specification's highest level, which pino calls fatal.
    level: level === 'panic' ? 'fatal' : level,
    redact: { paths: secretFields.flatMap((field) => [field, `*.${field}`]), censor: '[redacted]' },
    formatters: { level: (name: string) => ({ level: name }), log: shortenFields },
    serializers: { err: serializeError, msg: shortenMessage },
    base: { version },
    mixin: logFields,
    // pino's default strategy would modify the object that the mixin returned.
    mixinMergeStrategy: (line: object, fields: object) => ({ ...fields, ...line }),
    timestamp: pino.stdTimeFunctions.isoTime,
  }
  return pino(options, destination)
}
