#include "tool/monitor.h"

#include <stddef.h>

void lt_monitor_tell_prompt(const lt_monitor *monitor, const lt_monitor_prompt *prompt) {
  for (; monitor != NULL; monitor = monitor->next) {
    if (monitor->on_prompt != NULL) {
      monitor->on_prompt(monitor->arg, prompt);
    }
  }
}

void lt_monitor_tell_question(const lt_monitor *monitor, const lt_monitor_question *question) {
  for (; monitor != NULL; monitor = monitor->next) {
    if (monitor->on_question != NULL) {
      monitor->on_question(monitor->arg, question);
    }
  }
}

void lt_monitor_tell_program(const lt_monitor *monitor, const lt_monitor_program *program) {
  for (; monitor != NULL; monitor = monitor->next) {
    if (monitor->on_program != NULL) {
      monitor->on_program(monitor->arg, program);
    }
  }
}

void lt_monitor_tell_call(const lt_monitor *monitor, const struct lt_call_event *event) {
  for (; monitor != NULL; monitor = monitor->next) {
    if (monitor->on_call != NULL) {
      monitor->on_call(monitor->arg, event);
    }
  }
}

bool lt_monitor_wants_calls(const lt_monitor *monitor) {
  while (monitor != NULL && monitor->on_call == NULL) {
    monitor = monitor->next;
  }
  return monitor != NULL;
}
