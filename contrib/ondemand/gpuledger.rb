# frozen_string_literal: true

# What the widget _gpuledger.html.erb of Open OnDemand's dashboard shows: a user's GPU time
# and charges of the month, what some requests would cost, and warnings about budgets.
#
# Copy this file to /etc/ood/config/apps/dashboard/initializers/gpuledger.rb. The dashboard
# runs as its user, and so does the command: munge tells the collector who asks, so that
# nobody sees more than with `gpuledger mine` on a login host. Answers are kept for some
# minutes in the process, which is the user's own.
#
# /etc/ood/config/apps/dashboard/env may set
#   GPULEDGER_COMMAND   the command (/usr/bin/gpuledger)
#   GPULEDGER_REQUESTS  requests whose price is shown, parted by blanks, as --gres of
#                       sbatch: gpu:h100:1 gpu:h100:8
#   GPULEDGER_LIMITS    file of `gpuledger budget --output-limits` (/var/lib/gpuledger/limits)
require 'json'
require 'open3'
require 'time'

module GpuledgerWidget
  SECONDS = 10        # that a command may take
  KEPT = 300          # seconds that an answer is kept
  LONGEST = 1 << 20   # bytes of an answer or a file

  # What the command says: the report, or a sentence that says why there is none.
  Answer = Struct.new(:report, :problem, keyword_init: true) do
    def rows
      report ? report.fetch('rows', []) : []
    end

    def total(name)
      report && report.fetch('totals', {})[name]
    end
  end

  module_function

  def month(now = Time.now)
    now.strftime('%Y-%m')
  end

  # The user's own month by account and project.
  def mine(now = Time.now)
    kept(:mine, now) { ask('mine', '--json', '--month', month(now), '--by', 'account,project') }
  end

  # [[request, answer], ...]: what an hour of each request would cost.
  def prices(now = Time.now)
    ENV.fetch('GPULEDGER_REQUESTS', '').split.map do |request|
      [request, kept([:price, request], now) { ask('price', '--json', "--gres=#{request}", '--time=60') }]
    end
  end

  # Warnings of the budgets that limit accounts and projects of the report. nil: the file is
  # not there, torn or too old, and says nothing.
  def budgets(answer, now = Time.now)
    limits = read_limits(ENV.fetch('GPULEDGER_LIMITS', '/var/lib/gpuledger/limits'), now) or return nil
    accounts = answer.rows.map { |row| row['account'] }
    projects = answer.rows.map { |row| row['project'] }
    mine = limits.select do |_, scope, name, _|
      (scope == 'project' ? projects : accounts).include?(name)
    end
    mine.map { |action, _, _, text| [action, text] }.uniq
  end

  # --- below: how

  def kept(key, now)
    @kept ||= {}
    at, answer = @kept[key]
    return answer if at && now - at < KEPT && now >= at

    answer = yield
    @kept[key] = [now, answer] if answer.report
    answer
  end

  def forget
    @kept = {}
  end

  # No shell: arguments are handed on as they are.
  def ask(*arguments)
    text, errors, status = run([ENV.fetch('GPULEDGER_COMMAND', '/usr/bin/gpuledger'), *arguments])
    # 3: done, but look
    return Answer.new(problem: reason(errors)) unless status && [0, 3].include?(status.exitstatus)

    report = JSON.parse(text)
    return Answer.new(problem: 'gpuledger gave no report') unless report.is_a?(Hash) && report['rows'].is_a?(Array)

    Answer.new(report: report)
  rescue SystemCallError, JSON::ParserError, ArgumentError
    Answer.new(problem: 'gpuledger cannot be run, or its answer cannot be read')
  end

  def run(command)
    Open3.popen3(*command, pgroup: true) do |stdin, stdout, stderr, process|
      stdin.close
      readers = [stdout, stderr].map { |stream| Thread.new { stream.read(LONGEST).to_s.scrub } }
      if process.join(SECONDS)
        [*readers.map(&:value), process.value]
      else
        Process.kill('KILL', -process.pid)
        readers.each(&:kill)
        ['', 'gpuledger did not answer in time', nil]
      end
    end
  end

  # Of "gpuledger: TEXT" the text.
  def reason(errors)
    line = errors.to_s.lines.first.to_s.strip.sub(/\Agpuledger: /, '')
    line.empty? ? 'gpuledger failed' : line
  end

  # docs/formats/limits.md: [[action, scope, name, text], ...]
  def read_limits(path, now)
    lines = File.read(path, LONGEST).scrub.lines(chomp: true)
    head, _, til, *limits, ending = lines
    return nil unless head == 'gpuledger-limits 1' && ending == "end #{limits.length}"
    return nil unless til =~ /\Auntil (\d+)\z/ && now.to_i < Regexp.last_match(1).to_i

    limits.map { |line| line.split(' ', 4) }.select { |parts| parts.length == 4 }
  rescue SystemCallError
    nil
  end
end
